import { randomUUID } from 'node:crypto';
import { shareRoutes } from '@backlot/contract';
import { asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const carol = '018f0000-0000-7000-8000-0000000000c1';
const unknownId = '018f0000-0000-7000-8000-000000000001';
const otherProject = { ...testProject, id: 'otherproject', number: 1002 };

describe('shares of records', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner', 'shared'] };
    for (const [collection, body] of [
      ['notes', { access }],
      ['diary', { access: 'private' }],
    ] as const)
      await bed.call('PUT', `/platform/projects/testproject/collections/${collection}`, {
        identity: asOwner(),
        body,
      });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    shareRoutes.shareRecord,
    () => bed.http,
    () => ({ path: `/db/notes/${unknownId}/_shares`, body: { userId: bob, may: 'read' } }),
  );
  refusesStrangers(
    shareRoutes.listShares,
    () => bed.http,
    () => ({ path: `/db/notes/${unknownId}/_shares` }),
  );
  refusesStrangers(
    shareRoutes.unshareRecord,
    () => bed.http,
    () => ({ path: `/db/notes/${unknownId}/_shares/${bob}` }),
  );

  const note = async (owner = ada) => (await bed.create('notes', { a: 1 }, asUser(owner))).id;
  const as = (user: string) => asUser(user);
  const share = (id: string, identity = as(ada), userId = bob, may = 'read') =>
    bed.call('PUT', `/db/notes/${id}/_shares`, { identity, body: { userId, may } });
  const list = (id: string, identity = as(ada)) =>
    bed.call('GET', `/db/notes/${id}/_shares`, { identity });
  const end = (id: string, identity = as(ada), userId = bob) =>
    bed.call('DELETE', `/db/notes/${id}/_shares/${userId}`, { identity });
  const read = async (id: string, user: string) =>
    (await bed.call('GET', `/db/notes/${id}`, { identity: as(user) })).status;
  const change = async (id: string, user: string) =>
    (await bed.call('PATCH', `/db/notes/${id}`, { identity: as(user), body: { data: { b: 2 } } }))
      .status;

  it('let a user read, or change too, for as long as they are', async () => {
    const id = await note();
    expect([await read(id, bob), await change(id, bob)]).toEqual([404, 404]);
    const { status, body } = await share(id);
    expect([status, body]).toEqual([
      200,
      { userId: bob, may: 'read', createdAt: expect.any(String) },
    ]);
    expect([await read(id, bob), await change(id, bob)]).toEqual([200, 403]);
    const theirs = await bed.call('GET', '/db/notes', { identity: as(bob) });
    expect(theirs.body.items.map((item: { id: string }) => item.id)).toEqual([id]);
    await share(id, as(ada), bob, 'change');
    expect([await read(id, bob), await change(id, bob)]).toEqual([200, 200]);
    expect([await read(id, carol), await change(id, carol)]).toEqual([404, 404]);
    expect((await list(id)).body).toMatchObject({ items: [{ userId: bob, may: 'change' }] });
    expect((await end(id)).status).toBe(200);
    expect((await end(id)).status).toBe(404);
    expect([await read(id, bob), await change(id, bob)]).toEqual([404, 404]);
  });

  it('are decided by the record’s owner and the project’s own callers, and by nobody else', async () => {
    const id = await note();
    await share(id, as(ada), bob, 'change');
    for (const call of [share, list, end] as const) {
      expect((await call(id, as(carol))).status).toBe(404);
      expect((await call(id, asKey({ project: otherProject }))).status).toBe(404);
      expect((await call(id, { ...as(ada), project: otherProject })).status).toBe(404);
    }
    // Who may change it may neither pass it on nor see with whom else it is shared.
    expect((await share(id, as(bob), carol)).status).toBe(403);
    expect((await list(id, as(bob))).status).toBe(403);
    expect((await share(id, asKey(), carol)).status).toBe(200);
    expect((await end(id, as(bob), carol)).status).toBe(403);
    expect((await end(id, as(bob))).status).toBe(200);
    expect((await list(id, asOwner())).body.items).toHaveLength(1);
  });

  it('go with their record', async () => {
    const id = await note();
    await share(id);
    await bed.call('DELETE', `/db/notes/${id}`, { identity: as(ada) });
    expect((await share(id)).status).toBe(404);
    const left = 'SELECT FROM shares WHERE project_id = $1 AND record_id = $2';
    expect(await bed.database.query(left, [testProject.number, id])).toEqual([]);
  });

  it('are for collections whose rules name them, of records that there are', async () => {
    const { id } = await bed.create('diary', {}, as(ada));
    const body = { userId: bob, may: 'read' };
    const path = `/db/diary/${id}/_shares`;
    expect(await bed.call('PUT', path, { identity: as(ada), body })).toMatchObject({
      status: 409,
      body: { code: 'conflict', hint: expect.stringContaining('"shared"') },
    });
    for (const missing of [unknownId, 'nonsense', '%00'])
      expect((await share(missing)).status).toBe(404);
    expect((await bed.call('GET', `/db/nothing/${id}/_shares`, { identity: as(ada) })).status).toBe(
      404,
    );
  });

  it.each([{}, { userId: 'x', may: 'read' }, { userId: bob }, { userId: bob, may: 'delete' }])(
    'are not made of %j',
    async (body) => {
      const id = await note();
      const path = `/db/notes/${id}/_shares`;
      expect(await bed.call('PUT', path, { identity: as(ada), body })).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
    },
  );

  it('of one record are at most 100, in parallel too', async () => {
    const id = await note();
    await bed.database.query(
      `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at)
       SELECT project_id, coll_id, id, gen_random_uuid(), 'read', now()
         FROM records, generate_series(1, 98) WHERE project_id = $1 AND id = $2`,
      [testProject.number, id],
    );
    const people = Array.from({ length: 6 }, () => randomUUID());
    const answers = await Promise.all(people.map((userId) => share(id, as(ada), userId)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 403,
      body: { code: 'quota_reached' },
    });
    const { items } = (await list(id)).body;
    expect(items).toHaveLength(100);
    expect((await share(id, as(ada), items[0].userId, 'change')).status).toBe(200);
  });
});
