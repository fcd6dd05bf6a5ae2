import { randomUUID } from 'node:crypto';
import type { Payload } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const carol = '018f0000-0000-7000-8000-0000000000c1';
const red = '018f0000-0000-7000-8000-0000000000e1';
const blue = '018f0000-0000-7000-8000-0000000000e2';
const projectNumber = testProject.number;
const neighbour = { ...testProject, id: 'otherproject', number: 1002 };
const shared = { create: ['users'], change: ['owner'] };

describe('shares that a user has given', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    for (const project of [testProject, neighbour])
      for (const [collection, read] of [
        ['cards', ['group', 'shared']],
        ['orders', ['role:staff', 'shared']],
        ['notes', ['owner', 'group', 'shared']],
      ] as const)
        await bed.call('PUT', `/platform/projects/${project.id}/collections/${collection}`, {
          identity: asOwner({ project }),
          body: { access: { ...shared, read: [...read] } },
        });
  });
  afterAll(() => bed.close());

  // Somebody new in each test: what is still under way for the last one's ends no share of this one's.
  let ada: string;
  let adasRole: string;
  let adasGroups: string[];
  const become = (role: string, ...groups: string[]) => {
    [adasRole, adasGroups] = [role, groups];
    bed.people.set(ada, { role, groups: groups.map((id) => ({ id, role: 'member' })) });
  };
  beforeEach(() => {
    ada = randomUUID();
    become('user', red, blue);
  });
  afterEach(() => void bed.people.delete(ada));

  const asAda = (project = testProject): Identity =>
    asUser(ada, {
      project,
      role: adasRole,
      groups: adasGroups.map((id) => ({ id, role: 'member' })),
    });
  const path = (collection: string, id: string) => `/db/${collection}/${id}/_shares`;
  const share = async (collection: string, id: string, body: object, identity = asAda()) =>
    (await bed.call('PUT', path(collection, id), { identity, body: { may: 'read', ...body } }))
      .status;
  /** A record of hers that she has shared with Bob. */
  const give = async (
    collection: string,
    { groupId, project = testProject }: { groupId?: string; project?: typeof testProject } = {},
  ): Promise<string> => {
    const identity = asAda(project);
    const body = { data: { a: 1 }, groupId };
    const { id } = (await bed.call('POST', `/db/${collection}`, { identity, body })).body;
    expect(await share(collection, id, { userId: bob }, identity)).toBe(200);
    return id;
  };
  const reads = async (collection: string, id: string, identity = asUser(bob)) =>
    (await bed.call('GET', `/db/${collection}/${id}`, { identity })).status === 200;
  const tell = async <T extends 'user.changed' | 'user.erased'>(topic: T, payload: Payload<T>) =>
    bed.bus.publish({ id: randomUUID(), topic, payload });
  const tellChanged = () => tell('user.changed', { projectNumber, userIds: [carol, ada] });
  const ends = (collection: string, id: string) =>
    until(async () => !(await reads(collection, id)), { what: `the share of ${collection}` });

  it('end when they leave the group that the record is of, and no others do', async () => {
    const [left, kept, own] = [
      await give('cards', { groupId: red }),
      await give('cards', { groupId: blue }),
      await give('notes', { groupId: red }),
    ];
    const byKey = await give('cards', { groupId: red });
    expect(await share('cards', byKey, { userId: carol }, asKey())).toBe(200);
    become('user', blue);
    await tellChanged();
    await ends('cards', left);
    await ends('cards', byKey);
    expect(await reads('cards', kept)).toBe(true);
    expect(await reads('notes', own)).toBe(true);
    expect(await reads('cards', byKey, asUser(carol))).toBe(true);
    // Whoever joins again begins anew.
    become('user', red, blue);
    await tellChanged();
    expect(await reads('cards', left)).toBe(false);
  });

  it('end with the role that let them read the record', async () => {
    become('staff');
    const id = await give('orders');
    await tellChanged();
    expect(await share('orders', id, { userId: carol })).toBe(200);
    become('user');
    await tellChanged();
    await ends('orders', id);
    expect(await reads('orders', id, asUser(carol))).toBe(false);
  });

  it('end with their account, whatever the rules, and in no other project', async () => {
    const elsewhere = await give('notes', { project: neighbour });
    const ids = [await give('cards', { groupId: red }), await give('notes')];
    bed.people.delete(ada);
    const { id: projectId } = testProject;
    const payload = { projectId, projectNumber, userId: ada, email: 'ada@example.org' };
    await tell('user.erased', payload);
    await ends('cards', ids[0] ?? '');
    await ends('notes', ids[1] ?? '');
    expect(await reads('notes', elsewhere, asUser(bob, { project: neighbour }))).toBe(true);
  });

  it('end with their account in a deleted collection too, which may come back', async () => {
    const id = await give('cards', { groupId: red });
    const path = `/platform/projects/${testProject.id}/collections/cards`;
    expect((await bed.call('DELETE', path, { identity: asOwner() })).status).toBe(200);
    bed.people.delete(ada);
    const { id: projectId } = testProject;
    await tell('user.erased', { projectId, projectNumber, userId: ada, email: 'ada@example.org' });
    await until(async () => {
      const left = await bed.database.query('SELECT FROM shares WHERE record_id = $1', [id]);
      return left.length === 0;
    });
    const restored = { identity: asOwner(), body: {} };
    expect((await bed.call('POST', `${path}/restore`, restored)).status).toBe(200);
    expect(await reads('cards', id)).toBe(false);
  });

  it('with an address end too', async () => {
    const id = await give('cards', { groupId: red });
    expect(await share('cards', id, { email: 'carol@example.org' })).toBe(200);
    bed.holders.set('carol@example.org', carol);
    await bed.bus.publish({
      id: randomUUID(),
      topic: 'user.verified',
      payload: { projectNumber, userId: carol, email: 'carol@example.org' },
    });
    await until(() => reads('cards', id, asUser(carol)));
    become('user', blue);
    await tellChanged();
    await until(async () => !(await reads('cards', id, asUser(carol))));
  });

  it('end where they were given by a call that did not know yet that its caller had left', async () => {
    const late = asAda();
    become('user', blue);
    await tellChanged();
    const body = { data: { a: 1 }, groupId: red };
    const { id } = (await bed.call('POST', '/db/cards', { identity: late, body })).body;
    expect(await share('cards', id, { userId: bob }, late)).toBe(200);
    await ends('cards', id);
  });

  it('to themselves keep no record for who leaves, and are passed on by nobody', async () => {
    const id = await give('cards', { groupId: red });
    expect(await share('cards', id, { userId: ada })).toBe(200);
    // Who gives a share is looked at once more; here that is over before they leave.
    await until(async () => (await bed.database.query('SELECT FROM outbox')).length === 0);
    become('user', blue);
    expect(await reads('cards', id, asAda())).toBe(true);
    expect(await share('cards', id, { userId: carol })).toBe(403);
    await tellChanged();
    await until(async () => !(await reads('cards', id, asAda())));
    expect(await share('cards', id, { userId: ada }, asKey())).toBe(200);
    expect(await reads('cards', id, asAda())).toBe(true);
    expect(await share('cards', id, { userId: carol })).toBe(403);
  });

  it('belong to whoever has given the same one last', async () => {
    const id = await give('cards', { groupId: red });
    expect(await share('cards', id, { userId: bob }, asKey())).toBe(200);
    const other = await give('cards', { groupId: red });
    become('user', blue);
    await tellChanged();
    await ends('cards', other);
    expect(await reads('cards', id)).toBe(true);
  });

  it('end in batches, and give back what they counted', async () => {
    const ids = [await give('cards', { groupId: red }), await give('cards', { groupId: blue })];
    const [own] = await bed.database.query<{ coll_id: number }>(
      'SELECT coll_id FROM shares WHERE project_id = $1 AND record_id = $2',
      [projectNumber, ids[0]],
    );
    const given = 'SELECT count(*)::int4 AS n FROM shares WHERE project_id = $1 AND shared_by = $2';
    await bed.database.query(
      `WITH made AS (
         INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data, group_id)
         SELECT $1, $2, gen_random_uuid(), $3, now(), now(), '{}', CASE n % 4 WHEN 0 THEN $5 ELSE $4 END::uuid
           FROM generate_series(1, 1300) n RETURNING id)
       INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at, shared_by)
       SELECT $1, $2, id, $6, 'read', now(), $3 FROM made`,
      [projectNumber, own?.coll_id, ada, red, blue, bob],
    );
    const countGiven = async () =>
      (await bed.database.query<{ n: number }>(given, [projectNumber, ada]))[0]?.n ?? 0;
    const before = await countGiven();
    become('user', blue);
    await tellChanged();
    await until(async () => (await countGiven()) <= before - 975, { what: '975 shares gone' });
    await ends('cards', ids[0] ?? '');
    expect(await reads('cards', ids[1] ?? '')).toBe(true);
  });
});
