import { groupRoutes } from '@backlot/contract';
import { asKey, asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup } from '../testing/groups.ts';
import { createTestBed, hourMs, otherProject, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const projectNumber = testProject.number;

describe('groups', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    groupRoutes.createGroup,
    () => bed.http,
    () => ({ path: '/groups', body: { name: 'Red' } }),
  );
  refusesStrangers(
    groupRoutes.listGroups,
    () => bed.http,
    () => ({ path: '/groups' }),
  );
  refusesStrangers(
    groupRoutes.getGroup,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}` }),
  );
  refusesStrangers(
    groupRoutes.updateGroup,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}`, body: { name: 'Red' } }),
  );
  refusesStrangers(
    groupRoutes.deleteGroup,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}` }),
  );

  it('have their creator as owner, whose sessions know it at once', async () => {
    const { identity, user, sessionId } = await bed.signUp();
    await bed.takeEvents();
    const { status, body } = await bed.call('POST', '/groups', { identity, body: { name: 'Red' } });
    expect([status, body]).toEqual([
      201,
      { id: expect.any(String), name: 'Red', role: 'owner', createdAt: expect.any(String) },
    ]);
    expect(await bed.takeEvents()).toEqual([
      { topic: 'user.changed', payload: { projectNumber, userIds: [user.id] } },
    ]);
    const groups = [{ id: body.id, role: 'owner' }];
    expect(await bed.findSession(sessionId)).toMatchObject({ role: 'user', groups });
    const path = `/groups/${body.id}`;
    expect((await bed.call('GET', path, { identity })).body).toEqual(body);
    const stranger = await bed.signUp();
    expect(await bed.call('GET', path, stranger)).toMatchObject({ status: 404 });
    expect((await bed.call('GET', path, { identity: asOwner() })).body).toEqual({
      ...body,
      role: null,
    });
    const otherOwner = asOwner({ project: otherProject });
    expect(await bed.call('GET', path, { identity: otherOwner })).toMatchObject({ status: 404 });
    expect((await bed.call('GET', '/groups', { identity })).body).toEqual({
      items: [body],
      hasMore: false,
      nextCursor: null,
    });
  });

  it.each([
    {},
    { name: '' },
    { name: 'x'.repeat(101) },
    { name: 'a\nb' },
    { name: 'a', role: 'x' },
  ])('are not made of %j', async (body) => {
    const { identity } = await bed.signUp();
    expect(await bed.call('POST', '/groups', { identity, body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });

  it('are listed newest first, to their members, and all of them to the project’s own callers', async () => {
    const { identity } = await bed.signUp();
    const made: string[] = [];
    for (const name of ['a', 'b', 'c'])
      made.unshift((await bed.call('POST', '/groups', { identity, body: { name } })).body.id);
    const names = async (path: string, as = identity) => {
      const { body } = await bed.call('GET', path, { identity: as });
      return { next: body.nextCursor, ids: body.items.map(({ id }: { id: string }) => id) };
    };
    const first = await names('/groups?limit=2');
    expect(first.ids).toEqual(made.slice(0, 2));
    const rest = await names(`/groups?limit=2&cursor=${encodeURIComponent(first.next)}`);
    expect(rest.ids).toEqual(made.slice(2));
    for (const as of [asOwner(), asKey(), asOperator()])
      expect((await names('/groups?limit=3', as)).ids).toEqual(made);
    expect((await names('/groups', (await bed.signUp()).identity)).ids).toEqual([]);
    expect((await names('/groups', asKey({ project: otherProject }))).ids).toEqual([]);
    const bad = await bed.call('GET', '/groups?cursor=x', { identity });
    expect(bad.body.code).toBe('invalid_cursor');
  });

  it('are renamed by owners and admins, deleted by owners, and do not exist for others', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['admin', 'member']);
    const path = `/groups/${group.id}`;
    const stranger = (await bed.signUp()).identity;
    const elsewhere = { ...owner.identity, project: otherProject };
    const keyElsewhere = asKey({ project: otherProject });
    const rename = async (identity: typeof stranger) =>
      (await bed.call('PATCH', path, { identity, body: { name: 'Blue' } })).status;
    const remove = async (identity: typeof stranger) =>
      (await bed.call('DELETE', path, { identity })).status;
    for (const identity of [stranger, elsewhere, keyElsewhere]) {
      expect(await rename(identity)).toBe(404);
      expect(await remove(identity)).toBe(404);
    }
    expect(await rename(others.member.identity)).toBe(403);
    expect(await remove(others.member.identity)).toBe(403);
    expect(await remove(others.admin.identity)).toBe(403);
    for (const identity of [owner.identity, others.admin.identity, asKey(), asOwner()])
      expect(await rename(identity)).toBe(200);
    for (const id of [unknownId, 'nonsense', '%00'])
      expect((await bed.call('DELETE', `/groups/${id}`, { identity: asKey() })).status).toBe(404);

    await bed.takeEvents();
    expect(await remove(owner.identity)).toBe(200);
    const changes = await bed.take('user.changed');
    const userIds = changes.flatMap((change) => change.userIds);
    const members = [owner, others.admin, others.member];
    expect(changes).toHaveLength(1);
    expect(userIds.sort()).toEqual(members.map(({ user }) => user.id).sort());
    for (const { sessionId } of members)
      expect(await bed.findSession(sessionId)).toMatchObject({ role: 'user', groups: [] });
    expect(await remove(owner.identity)).toBe(404);
  });

  it('of one user are at most 100, in parallel too', async () => {
    const { identity, sessionId, user } = await bed.signUp({ ip: '192.0.2.77' });
    await bed.database.query(
      `WITH made AS (
         INSERT INTO groups (project_number, id, name, created_at)
         SELECT $1, gen_random_uuid(), 'g', now() FROM generate_series(1, 98) RETURNING id)
       INSERT INTO group_members (project_number, group_id, user_id, role, joined_at)
       SELECT $1, id, $2, 'member', now() FROM made`,
      [projectNumber, user.id],
    );
    const create = () => bed.call('POST', '/groups', { identity, body: { name: 'g' } });
    const answers = await Promise.all(Array.from({ length: 5 }, create));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject({
      status: 403,
      body: { code: 'group_limit' },
    });
    expect((await bed.findSession(sessionId))?.groups).toHaveLength(100);
  });

  it('go with the project', async () => {
    const project = { ...testProject, id: 'gone', number: 1077 };
    const { identity } = await bed.signUp({ project });
    await bed.call('POST', '/groups', { identity, body: { name: 'g' } });
    const payload = { projectId: project.id, projectNumber: project.number };
    await bed.service.start();
    await bed.bus.publish({ id: 'erased', topic: 'project.erased', payload });
    const left = () =>
      bed.database.query('SELECT FROM groups WHERE project_number = $1', [project.number]);
    expect(await left()).toEqual([]);
    await bed.service.stop();
  });
});

describe('an address', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { groupsPerIp: { max: 2, windowMs: hourMs } } });
  });
  afterAll(() => bed.close());

  it('makes so many groups an hour and no more', async () => {
    const people = await Promise.all([bed.signUp(), bed.signUp(), bed.signUp()]);
    const statuses = people.map(
      async ({ identity }) =>
        (await bed.call('POST', '/groups', { identity, body: { name: 'g' } })).status,
    );
    expect((await Promise.all(statuses)).sort()).toEqual([201, 201, 429]);
    bed.clock.pass(hourMs);
    const identity = people[0]?.identity;
    const later = await bed.call('POST', '/groups', {
      ...(identity && { identity }),
      body: { name: 'g' },
    });
    expect(later.status).toBe(201);
  });
});
