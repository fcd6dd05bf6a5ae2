import { projectRoutes, type RouteDefinition } from '@backlot/contract';
import { asKey, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('powers of roles', () => {
  let bed: TestBed;
  let projectId: string;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    projectId = await bed.project();
    await bed.takeEvents();
  });

  for (const [route, rest] of [
    [projectRoutes.listRoles, ''],
    [projectRoutes.setRole, '/staff'],
    [projectRoutes.deleteRole, '/staff'],
  ] satisfies [RouteDefinition, string][])
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${projectId}/roles${rest}`, body: { may: ['see-users'] } }),
    );

  const call = async (
    method: string,
    rest = '',
    body?: unknown,
    identity = bed.owner(ownerA, projectId),
  ) =>
    bed.call(method, `/platform/projects/${projectId}/roles${rest}`, {
      identity: await identity,
      ...(body === undefined ? {} : { body }),
    });
  const set = (name: string, may: unknown) => call('PUT', `/${name}`, { may });
  const list = async () => (await call('GET')).body.items;
  const known = async () => (await bed.service.directories.projects.findProject(projectId))?.powers;

  it('are set, replaced, listed by name and taken back, and gateways are told each time', async () => {
    expect(await known()).toBeUndefined();
    expect(await set('staff', ['see-users', 'block-users'])).toMatchObject({
      status: 200,
      body: { name: 'staff', may: ['see-users', 'block-users'] },
    });
    await set('editor', ['delete-files']);
    await set('staff', ['see-emails']);
    await set('constructor', []);
    expect(await list()).toEqual([
      { name: 'constructor', may: [] },
      { name: 'editor', may: ['delete-files'] },
      { name: 'staff', may: ['see-emails'] },
    ]);
    expect(await known()).toEqual({
      constructor: [],
      editor: ['delete-files'],
      staff: ['see-emails'],
    });
    for (const name of ['staff', 'editor', 'constructor'])
      expect((await call('DELETE', `/${name}`)).status).toBe(200);
    expect(await known()).toBeUndefined();
    const { topic } = { topic: 'project.changed' };
    expect((await bed.takeEvents()).map((event) => event.topic)).toEqual(Array(7).fill(topic));
  });

  it.each([
    ['staff', ['ban']],
    ['staff', ['see-users', 'see-users']],
    ['staff', 'see-users'],
    ['staff', undefined],
    ['Staff', ['see-users']],
    ['user', ['see-users']],
    ['__proto__', ['see-users']],
    ['a'.repeat(33), ['see-users']],
  ])('refuse the role %j with %j', async (name, may) => {
    expect((await set(name, may)).status).toBe(400);
    expect(await list()).toEqual([]);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('are not there to be taken from who has none', async () => {
    for (const name of ['staff', '__proto__', 'constructor', 'x'.repeat(1000)])
      expect(await call('DELETE', `/${name}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
  });

  it('are for 20 roles, also where all come at once', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `role-${n}`);
    const answers = await Promise.all(names.map((name) => set(name, ['see-users'])));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 403,
      body: { code: 'role_limit' },
    });
    expect(await list()).toHaveLength(20);
  });

  it('are seen by keys and set by none; and another owner has no such project', async () => {
    await set('staff', ['see-users']);
    const { project } = await bed.owner(ownerA, projectId);
    expect((await call('GET', '', undefined, Promise.resolve(asKey({ project })))).status).toBe(
      200,
    );
    expect((await call('GET', '', undefined, bed.owner(ownerB, projectId))).status).toBe(404);
    const stranger = bed.owner(ownerB, projectId);
    expect((await call('PUT', '/staff', { may: [] }, stranger)).status).toBe(404);
    expect(await list()).toEqual([{ name: 'staff', may: ['see-users'] }]);
  });
});
