import { capabilities, capabilityFor, type RouteDefinition, routes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  ownerId,
  projectSnapshot,
  sha256,
  type TestBed,
} from './testing/test-bed.ts';

const suspendedKey = `bk_${'s'.repeat(43)}`;
const someId = '018f0000-0000-7000-8000-000000000000';
const isCalled = ({ answeredBy, answers, ignoresCredentials }: RouteDefinition) =>
  answeredBy === undefined && answers !== 'events' && !ignoresCredentials;

const ofProject = routes.filter(
  (route) =>
    isCalled(route) && (route.plane === 'runtime' || route.path.startsWith('/projects/:projectId')),
);

describe('a suspended project', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    for (const [index, suspended] of [['all'], ...capabilities.map((one) => [one])].entries())
      bed.fake.projects.set(
        `no-${suspended}`,
        projectSnapshot({
          id: `no-${suspended}`,
          number: 2000 + index,
          status: suspended[0] === 'all' ? 'paused' : 'active',
          suspended: suspended as ['all'],
        }),
      );
    bed.fake.keys.set(sha256(suspendedKey), { id: 'k', projectNumber: 2000, scopes: ['admin'] });
  });
  afterAll(() => bed.close());

  const code = async (route: RouteDefinition, id: string, token: string | undefined) => {
    const path = route.path.replace(':projectId', id).replace(/:[A-Za-z]+/g, someId);
    const base = route.plane === 'platform' ? '/api/platform' : `/api/runtime/${id}`;
    const { body } = await bed.call(route.method, base + path, { ...(token && { token }) });
    return String(body?.code);
  };
  const byOwner = () => bed.token({ aud: 'platform', sub: ownerId });

  it.each(ofProject.map((route) => [route.operationId, route] as const))(
    '%s changes nothing and gives nothing away, whoever calls but the operator',
    async (_, route: RouteDefinition) => {
      const isLook = route.plane === 'platform' && route.method === 'GET' && !route.capability;
      if (route.plane === 'runtime')
        expect(await code(route, 'no-all', undefined)).toBe('suspended');
      if (!route.callers.includes('owner')) return;
      const found = await code(route, 'no-all', byOwner());
      if (isLook) expect(found).not.toBe('suspended');
      else expect(found).toBe('suspended');
    },
  );

  it.each(ofProject.map((route) => [route.operationId, route] as const))(
    '%s needs the capability that the contract says, and no other',
    async (_, route: RouteDefinition) => {
      if (!route.callers.includes('owner')) return;
      const needed = capabilityFor(route);
      for (const capability of capabilities) {
        const found = await code(route, `no-${capability}`, byOwner());
        const isRefused = needed === 'every' || needed === capability;
        expect([capability, found === 'suspended']).toEqual([capability, isRefused]);
      }
    },
  );

  it('the operator goes on with it by the control plane', async () => {
    for (const route of ofProject)
      if (route.plane === 'platform' && route.callers.includes('operator'))
        expect(await code(route, 'no-all', operatorToken)).not.toBe('suspended');
  });

  it('its keys open nothing', async () => {
    for (const route of ofProject)
      if (route.callers.includes('key'))
        expect(['suspended', 'forbidden', 'invalid_token']).toContain(
          await code(route, 'no-all', suspendedKey),
        );
  });

  it('is in force with the event that tells of it, and lifted with the next', async () => {
    const active = projectSnapshot({ id: 'later', number: 2100 });
    bed.fake.projects.set('later', active);
    const list = () => bed.call('GET', '/api/runtime/later/db/notes');
    expect((await list()).status).toBe(200);
    const tell = async (suspended?: ['all']) => {
      bed.fake.projects.set('later', { ...active, ...(suspended && { suspended }) });
      await bed.publish('project.changed', { projectId: 'later', projectNumber: 2100 });
    };
    await tell(['all']);
    expect((await list()).body).toMatchObject({ code: 'suspended' });
    await tell();
    expect((await list()).status).toBe(200);
  });
});
