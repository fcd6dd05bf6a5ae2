import { projectRoutes, type RouteDefinition } from '@backlot/contract';
import { asKey, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const routes: [RouteDefinition, string, unknown][] = [
  [projectRoutes.getProject, '', undefined],
  [projectRoutes.updateProject, '', { name: 'Stolen', status: 'paused' }],
  [projectRoutes.deleteProject, '', undefined],
  [projectRoutes.restoreProject, '/restore', undefined],
  [projectRoutes.getLimits, '/limits', undefined],
  [projectRoutes.setLimits, '/limits', { read: { perCaller: 1 } }],
  [projectRoutes.getConfig, '/config', undefined],
  [projectRoutes.setConfig, '/config', { settings: { aiModel: 'stolen' } }],
  [projectRoutes.listConfigApplications, '/config/applications', undefined],
  [projectRoutes.exportProject, '/export', undefined],
  [projectRoutes.copyProject, '/copy', { name: 'Stolen', records: true }],
  [projectRoutes.createPreview, '/preview', { records: true }],
  [projectRoutes.promotePreview, '/preview/promote', {}],
  [projectRoutes.deletePreview, '/preview', undefined],
  [projectRoutes.createKey, '/keys', { name: 'Stolen' }],
  [projectRoutes.listKeys, '/keys', undefined],
  [projectRoutes.deleteKey, '/keys/:keyId', undefined],
];

describe('routes of one project', () => {
  let bed: TestBed;
  let projectId: string;
  let keyId: string;
  beforeAll(async () => {
    bed = await createTestBed();
    projectId = await bed.project();
    const identity = await bed.owner(ownerA, projectId);
    const key = await bed.call('POST', `/platform/projects/${projectId}/keys`, {
      identity,
      body: { name: 'Own' },
    });
    keyId = String(key.body.id);
  });
  afterAll(() => bed.close());

  const routePath = (rest: string, id = projectId) =>
    `/projects/${id}${rest.replace(':keyId', keyId)}`;
  const everything = () =>
    bed.database.query(
      'SELECT p.*, k.id AS key_id, k.name AS key_name FROM projects p LEFT JOIN keys k ON k.project_number = p.number ORDER BY p.number',
    );

  for (const [route, rest, body] of routes) {
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: routePath(rest), body }),
    );

    it(`${route.operationId} says 404 about another owner's project and changes nothing, even if the gateway lets it through`, async () => {
      const before = await everything();
      await bed.takeEvents();
      const ofOther = await bed.owner(ownerB, projectId);
      for (const identity of [ofOther, { ...ofOther, userId: null }]) {
        const answer = await bed.call(route.method, `/platform${routePath(rest)}`, {
          identity,
          body,
        });
        expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
      }
      expect(await everything()).toEqual(before);
      expect(await bed.takeEvents()).toEqual([]);
    });

    if (route.callers.includes('key')) {
      it(`${route.operationId} opens to a key of the project, and reaches no other`, async () => {
        const { project } = await bed.owner(ownerA, projectId);
        const answer = await bed.call(route.method, `/platform${routePath(rest)}`, {
          identity: asKey({ project }),
          body: body && {},
        });
        expect(answer.status).toBe(200);
        const other = await bed.project(ownerB);
        const elsewhere = await bed.call(route.method, `/platform${routePath(rest, other)}`, {
          identity: asKey({ project }),
          body,
        });
        expect(elsewhere).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
      });
    }

    it(`${route.operationId} says 404 where the path names another project than the gateway found`, async () => {
      const identity = await bed.owner(ownerA, projectId);
      for (const id of ['platform', 'unknown', 'a%00b', '..%2f']) {
        const answer = await bed.call(route.method, `/platform${routePath(rest, id)}`, {
          identity,
          body,
        });
        expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
      }
    });

    it(`${route.operationId} shows the built-in project to no owner`, async () => {
      const identity = await bed.owner(ownerA);
      const answer = await bed.call(route.method, `/platform${routePath(rest, 'platform')}`, {
        identity,
        body,
      });
      expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
    });
  }

  it('answers 410 for a deleted project on all of them but restoreProject', async () => {
    const deleted = await bed.project();
    const identity = await bed.owner(ownerA, deleted);
    await bed.call('DELETE', `/platform/projects/${deleted}`, { identity });
    for (const [route, rest, body] of routes) {
      if (route.operationId === 'restoreProject') continue;
      const answer = await bed.call(route.method, `/platform${routePath(rest, deleted)}`, {
        identity,
        body,
      });
      expect(answer).toMatchObject({ status: 410, body: { code: 'project_deleted' } });
    }
  });
});
