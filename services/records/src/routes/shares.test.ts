import { randomUUID } from 'node:crypto';
import { events, nobody, type Payload, shareRoutes } from '@backlot/contract';
import { asKey, asOwner, asUser, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const carol = '018f0000-0000-7000-8000-0000000000c1';
const dora = '018f0000-0000-7000-8000-0000000000d1';
const unknownId = '018f0000-0000-7000-8000-000000000001';
const otherProject = { ...testProject, id: 'otherproject', number: 1002 };

describe('shares of records', () => {
  let bed: TestBed;
  const requested: Payload<'share.requested'>[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.bus.subscribe({
      queue: 'auth.share-requested',
      topics: ['share.requested'],
      handler: async ({ payload }) => {
        requested.push(events['share.requested'].parse(payload));
      },
    });
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

  const invite = (id: string, email: string, identity = as(ada), may = 'read') =>
    bed.call('PUT', `/db/notes/${id}/_shares`, { identity, body: { email, may } });
  /** What the bus brings from the auth service. */
  const tell = async <T extends 'user.verified' | 'user.erased'>(topic: T, payload: Payload<T>) => {
    await bed.bus.publish({ id: randomUUID(), topic, payload });
  };
  /** Somebody shows that the address is theirs; null: nobody has it any more. */
  const moves = async (email: string, userId: string | null) => {
    if (userId === null) bed.holders.delete(email);
    else bed.holders.set(email, userId);
    await tell('user.verified', { projectNumber, userId: userId ?? nobody, email });
  };
  const takes = async (id: string, user: string, status = 200) =>
    until(async () => (await read(id, user)) === status);
  const projectNumber = testProject.number;

  it('with an address open the record to who has shown that it is theirs, and to nobody else', async () => {
    const id = await note();
    const { status, body } = await invite(id, ' Dora@Example.org ');
    const shared = { email: 'dora@example.org', may: 'read', createdAt: expect.any(String) };
    expect([status, body]).toEqual([200, shared]);
    await until(() => requested.some(({ email }) => email === 'dora@example.org'));
    expect(await read(id, dora)).toBe(404);
    await tell('user.verified', { projectNumber: 1002, userId: dora, email: 'dora@example.org' });
    await moves('carol@example.org', carol);
    await moves('dora@example.org', dora);
    await takes(id, dora);
    expect([await read(id, carol), await change(id, dora)]).toEqual([404, 403]);
    // Nothing that the sharer sees has changed.
    expect((await list(id)).body.items).toEqual([shared]);
    expect((await end(id, as(ada), dora)).status).toBe(404);
    await invite(id, 'dora@example.org', as(ada), 'change');
    await tell('user.verified', { projectNumber, userId: dora, email: 'dora@example.org' });
    await until(async () => (await change(id, dora)) === 200);
    const theirs = await bed.call('GET', '/db/notes', { identity: as(dora) });
    expect(theirs.body.items.map((item: { id: string }) => item.id)).toEqual([id]);
  });

  it('with an address stand beside those with the same user, and end one by one', async () => {
    const id = await note();
    const email = 'dora@example.org';
    await share(id, as(ada), dora, 'read');
    await invite(id, email, as(ada), 'change');
    await moves(email, dora);
    await until(async () => (await change(id, dora)) === 200);
    expect((await list(id)).body.items).toMatchObject([
      { userId: dora, may: 'read' },
      { email, may: 'change' },
    ]);
    expect((await end(id, as(ada), 'DORA@example.org')).status).toBe(200);
    expect((await end(id, as(ada), email)).status).toBe(404);
    expect([await read(id, dora), await change(id, dora)]).toEqual([200, 403]);
    await invite(id, email);
    await moves(email, dora);
    await end(id, as(ada), dora);
    await takes(id, dora);
    // Who was invited leaves by their own id.
    expect((await end(id, as(dora), dora)).status).toBe(200);
    expect(await read(id, dora)).toBe(404);
    expect((await list(id)).body.items).toEqual([]);
  });

  it('with an address are the business of the record’s owner alone', async () => {
    const id = await note();
    await share(id, as(ada), bob, 'change');
    expect((await invite(id, 'x@example.org', as(carol))).status).toBe(404);
    expect((await invite(id, 'x@example.org', as(bob))).status).toBe(403);
    expect((await invite(id, 'x@example.org', asKey({ project: otherProject }))).status).toBe(404);
    await invite(id, 'x@example.org', asKey());
    expect((await end(id, as(bob), 'x@example.org')).status).toBe(403);
    expect((await end(id, asKey({ project: otherProject }), 'x@example.org')).status).toBe(404);
    expect((await list(id, asOwner())).body.items).toHaveLength(2);
  });

  it('with an address go with its user, its record and its project', async () => {
    const [id, other, gone] = [await note(), await note(), await note()];
    const email = 'leaver@example.org';
    await invite(id, email);
    await moves(email, dora);
    await takes(id, dora);
    await invite(other, email);
    await invite(gone, email);
    await bed.call('DELETE', `/db/notes/${gone}`, { identity: as(ada) });
    const rows = () =>
      bed.database.query('SELECT record_id FROM shares WHERE project_id = $1 AND email = $2', [
        projectNumber,
        email,
      ]);
    expect(await rows()).toHaveLength(2);
    const erased = { projectId: testProject.id, projectNumber, email };
    await tell('user.erased', { ...erased, userId: carol, emailVerified: false });
    await tell('user.erased', { ...erased, userId: dora, emailVerified: false });
    await takes(id, dora, 404);
    expect(await rows()).toHaveLength(2);
    // Somebody else has the address by now.
    await tell('user.erased', { ...erased, userId: carol, emailVerified: true });
    await takes(id, dora);
    bed.holders.delete(email);
    await tell('user.erased', { ...erased, userId: dora, emailVerified: true });
    await until(async () => (await rows()).length === 0);
  });

  it('with addresses are bounded for a user, and with a record’s others', async () => {
    const id = await note();
    const fill = (count: number, by: string) =>
      bed.database.query(
        `INSERT INTO shares (project_id, coll_id, record_id, user_id, email, may, shared_by, created_at)
         SELECT project_id, coll_id, id, '00000000-0000-0000-0000-000000000000', n || '@many.example', 'read', $3, now()
           FROM records, generate_series(1, $4::int) n WHERE project_id = $1 AND id = $2`,
        [projectNumber, id, by, count],
      );
    await fill(97, carol);
    await share(id);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => invite(id, `p${n}@example.org`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect((await share(id, as(ada), carol)).body.code).toBe('quota_reached');
    const elsewhere = await note(bob);
    await bed.database.query('UPDATE shares SET shared_by = $1 WHERE record_id = $2', [bob, id]);
    const crowded = await note(carol);
    await bed.database.query(
      `INSERT INTO shares (project_id, coll_id, record_id, user_id, email, may, shared_by, created_at)
       SELECT project_id, coll_id, id, '00000000-0000-0000-0000-000000000000', n || '@many.example', 'read', $3, now()
         FROM records, generate_series(1, 901) n WHERE project_id = $1 AND id = $2`,
      [projectNumber, crowded, bob],
    );
    const refused = await invite(elsewhere, 'x@example.org', as(bob));
    expect(refused).toMatchObject({ status: 403, body: { code: 'quota_reached' } });
    expect(refused.body.error).toContain('1000');
    expect((await invite(await note(), 'x@example.org')).status).toBe(200);
  });

  it.each([
    { email: 'x', may: 'read' },
    { email: 'x@example.org' },
    { userId: bob, email: 'x@example.org', may: 'read' },
    {},
    { userId: 'x', may: 'read' },
    { userId: bob },
    { userId: bob, may: 'delete' },
  ])('are not made of %j', async (body) => {
    const id = await note();
    const path = `/db/notes/${id}/_shares`;
    expect(await bed.call('PUT', path, { identity: as(ada), body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });

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
