import { setTimeout as pause } from 'node:timers/promises';
import { recordRoutes } from '@backlot/contract';
import { anonymous, asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('a batch', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const write = (collection: string, body: object, identity = asUser(ada)) =>
    bed.call('POST', `/db/${collection}/_batch`, { identity, body });
  const list = async (collection: string) =>
    (await bed.call('GET', `/db/${collection}?sort=createdAt&limit=1000`, { identity: asKey() }))
      .body.items as Record<string, unknown>[];
  const count = async (collection: string) =>
    (await bed.call('GET', `/db/${collection}/_count`)).body;

  it('creates, updates and deletes, and tells of each in order', async () => {
    const first = await bed.create('mixed', { n: 1, tags: ['a'], old: true }, asUser(ada));
    const second = await bed.create('mixed', { n: 2 }, asUser(ada));
    const third = await bed.create('mixed', { n: 3 }, asUser(ada));
    bed.clock.pass(10);
    const { status, body } = await write('mixed', {
      create: [{ data: { n: 10 } }, { data: { n: 11 } }],
      update: [
        { id: second.id, data: { text: 'two' } },
        { id: first.id, inc: { n: 0.5, seen: 1 }, unset: ['old'] },
      ],
      delete: [third.id],
    });
    expect(status).toBe(200);
    expect(body.update.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(body.delete).toEqual([{ id: third.id }]);
    const kept = await list('mixed');
    expect(kept).toMatchObject([
      { id: first.id, n: 1.5, seen: 1, tags: ['a'], updatedAt: body.update[1].updatedAt },
      { id: second.id, n: 2, text: 'two', updatedAt: body.update[0].updatedAt },
      { id: body.create[0].id, n: 10, ownerId: ada, updatedAt: body.create[0].updatedAt },
      { id: body.create[1].id, n: 11 },
    ]);
    expect(kept[0]).not.toHaveProperty('old');
    expect(await count('mixed')).toEqual({ count: 4 });
  });

  it('waits where 32 of one user come at once, however large', async () => {
    const create = Array.from({ length: 100 }, (_, n) => ({ data: { n, text: 'x'.repeat(800) } }));
    const all = Array.from({ length: 32 }, () =>
      bed.call('POST', '/db/crowded/_batch', { identity: asUser(ada), body: { create } }),
    );
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    const { body } = await bed.call('GET', '/db/crowded/_count', { identity: asUser(ada) });
    expect(body.count).toBe(3200);
  });

  it('creates 500 at once, in their order, and no more', async () => {
    const create = Array.from({ length: 500 }, (_, n) => ({ data: { n } }));
    const { status, body } = await write('many', { create });
    expect(status).toBe(200);
    expect((await list('many')).map(({ n }) => n)).toEqual(create.map(({ data }) => data.n));
    expect(body.create).toHaveLength(500);
    const one = { data: {} };
    expect(await write('many', { create: [...create, one] })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
    expect(await write('many', {})).toMatchObject({ status: 400 });
  });

  it('leaves nothing where its last operation is refused', async () => {
    const mine = await bed.create('all-or-none', { n: 1 }, asUser(ada));
    const others = await bed.create('all-or-none', { n: 2 }, asUser(bob));
    const before = await list('all-or-none');
    const create = [{ data: { n: 3 } }];
    const update = [{ id: mine.id, data: { n: 9 } }];
    const unknown = '018f0000-0000-7000-8000-00000000dead';
    const refusals: [object, number, string][] = [
      [{ create, update, delete: [others.id] }, 403, 'delete[0]: You may not delete'],
      [{ create, update, delete: [unknown] }, 404, 'delete[0]: There is no such record.'],
      [{ create, update: [...update, { id: unknown, unset: ['n'] }] }, 404, 'update[1]: There is'],
      [{ create: [...create, { data: { $n: 1 } }], update }, 400, 'create[1]: data.$n starts'],
      [
        { create, update: [{ id: mine.id, inc: { n: 1, id: 1 } }] },
        400,
        'update[0]: inc: the field',
      ],
      [{ create, update, delete: [mine.id] }, 400, 'is changed twice'],
      [{ create, update: [{ id: mine.id }] }, 400, 'needs "data", "unset" or "inc"'],
      [{ create, delete: ['x'] }, 400, '"delete.0"'],
      [{ create, remove: [] }, 400, 'delete'],
    ];
    for (const [batch, status, message] of refusals) {
      const answer = await write('all-or-none', batch);
      expect(answer).toMatchObject({ status });
      expect(answer.body.error).toContain(message);
    }
    const text = await bed.create('all-or-none', { word: 'no number' }, asUser(ada));
    const inc = await write('all-or-none', { create, update: [{ id: text.id, inc: { word: 1 } }] });
    expect(inc).toMatchObject({ status: 400, body: { code: 'invalid_data' } });
    expect(inc.body.error).toContain('update[0]: inc: the field "word" is not a number.');
    expect(await list('all-or-none')).toEqual([...before, text]);
  });

  it('keeps the rules of the collection', async () => {
    const path = `/platform/projects/${testProject.id}/collections`;
    for (const access of ['locked', 'private'])
      await bed.call('PUT', `${path}/${access}`, { identity: asOwner(), body: { access } });
    const create = [{ data: {} }];
    expect((await write('locked', { create })).status).toBe(403);
    expect((await write('locked', { create }, anonymous())).status).toBe(401);
    const made = (await write('private', { create })).body.create[0];
    expect((await write('private', { delete: [made.id] }, asUser(bob))).status).toBe(404);
    expect((await write('private', { delete: [made.id] }, anonymous())).status).toBe(401);
    expect((await write('private', { delete: [made.id] }, asKey())).status).toBe(200);
  });

  it('adds up under parallel batches that name the same records in different orders', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push((await bed.create('sums', { n: 0 }, asUser(ada))).id);
    const increments = (order: string[]) => ({
      update: order.map((id) => ({ id, inc: { n: 1 } })),
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        write('sums', increments(turn % 2 === 0 ? ids : ids.toReversed())),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await list('sums')).map(({ n }) => n)).toEqual(ids.map(() => 20));
  });

  it('is answered from memory where its Idempotency-Key comes again', async () => {
    const call = () =>
      bed.call('POST', '/db/repeated/_batch', {
        identity: asUser(ada),
        body: { create: [{ data: { n: 1 } }] },
        headers: { 'idempotency-key': 'one' },
      });
    const first = await call();
    expect((await call()).body).toEqual(first.body);
    expect(await count('repeated')).toEqual({ count: 1 });
  });

  it('takes 8 MB', async () => {
    const create = Array.from({ length: 15 }, () => ({ data: { text: 'x'.repeat(512 * 1024) } }));
    expect((await write('large', { create })).status).toBe(200);
    const tooMuch = [...create, ...create.slice(0, 2)];
    expect((await write('large', { create: tooMuch })).status).toBe(413);
  });

  refusesStrangers(
    recordRoutes.writeBatch,
    () => bed.http,
    () => ({ path: '/db/things/_batch', body: { create: [{ data: {} }] } }),
  );

  it('finds no record of another project', async () => {
    const { id } = await bed.create('things', {}, asUser(ada));
    const elsewhere = asKey({ project: { ...testProject, id: 'another-project', number: 9999 } });
    for (const batch of [{ delete: [id] }, { update: [{ id, data: { taken: true } }] }])
      expect((await write('things', batch, elsewhere)).status).toBe(404);
    expect((await bed.call('GET', `/db/things/${id}`)).body).not.toHaveProperty('taken');
  });
});

describe('a batch and the quota', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({}, { project: { records: 5, bytes: 10_000 } });
  });
  afterAll(() => bed.close());

  it('is refused whole past it, and deletes where it is full', async () => {
    const write = (body: object) =>
      bed.call('POST', '/db/few/_batch', { identity: asUser(ada), body });
    const create = (length: number) => Array.from({ length }, () => ({ data: {} }));
    expect((await write({ create: create(6) })).body.code).toBe('quota_reached');
    const { body } = await write({ create: create(5) });
    expect((await write({ create: create(1) })).body.code).toBe('quota_reached');
    const ids = body.create.map(({ id }: { id: string }) => id);
    expect((await write({ delete: ids })).status).toBe(200);
    expect((await bed.call('GET', '/db/few/_count')).body).toEqual({ count: 0 });
  });
});

describe('batches of many owners at once', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('leave connections for single writes, with an Idempotency-Key too', async () => {
    const data = { text: 'x'.repeat(20_000) };
    const create = Array.from({ length: 100 }, () => ({ data }));
    const record = await bed.create('quiet', { n: 1 }, asUser(ada));
    const lock = await holdRecord(bed, record.id);
    const waiting = Array.from({ length: 12 }, (_, turn) =>
      bed.call('POST', '/db/quiet/_batch', {
        identity: asUser(ada, { project: { ...testProject, ownerId: `owner ${turn}` } }),
        body: { create, update: [{ id: record.id, inc: { n: 1 } }] },
        headers: { 'idempotency-key': `batch ${turn}` },
      }),
    );
    await lock.untilWaiting(3);
    expect((await bed.create('quiet', { n: 2 }, asUser(bob))).n).toBe(2);
    await lock.release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(
      waiting.map(() => 200),
    );
    expect((await bed.call('GET', `/db/quiet/${record.id}`)).body.n).toBe(13);
  });
});

/** Locks a record as a slow transaction would. */
const holdRecord = async ({ database }: TestBed, id: string) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let onLocked = () => {};
  const locked = new Promise<void>((resolve) => {
    onLocked = resolve;
  });
  const holding = database.transaction(async () => {
    await database.query(
      'SELECT FROM records WHERE project_id = $1 AND coll_id = 1 AND id = $2 FOR UPDATE',
      [testProject.number, id],
    );
    onLocked();
    await released;
  });
  await locked;
  return {
    async untilWaiting(count: number) {
      for (;;) {
        const [row] = await database.query<{ count: number }>(
          `SELECT count(*) AS count FROM pg_stat_activity
           WHERE datname = current_database() AND state = 'active' AND query LIKE '% FOR UPDATE'`,
        );
        if ((row?.count ?? 0) >= count) return;
        await pause(20);
      }
    },
    async release() {
      release();
      await holding;
    },
  };
};
