import { recordRoutes } from '@backlot/contract';
import { cpuWork, toRequester } from '@backlot/fair-shares';
import { anonymous, asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fullAccess } from '../collections/access.ts';
import { createDeletions } from '../list/deletions.ts';
import { splitFilter } from '../query/selection.ts';
import { createSendChange } from '../record/change/send-change.ts';
import { ada, bob, createTestBed, type TestBed, unchanged } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';

describe('DELETE with a filter', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const identity = asKey();
  const path = `/platform/projects/${testProject.id}/collections`;
  const fill = async (name: string, records = 10) => {
    const create = Array.from({ length: records }, (_, n) => ({ data: { n, code: `c${n}` } }));
    const made = await bed.call('POST', `/db/${name}/_batch`, {
      identity: asUser(ada),
      body: { create },
    });
    expect(made.status).toBe(200);
  };
  const remove = (name: string, where: object | string, rest = '', who = identity) =>
    bed.call('DELETE', `/db/${name}?where=${encodeURIComponent(JSON.stringify(where))}${rest}`, {
      identity: who,
    });
  const numbers = async (name: string) => {
    const { body } = await bed.call('GET', `/db/${name}?sort=n`, { identity });
    return body.items.map(({ n }: { n: number }) => n);
  };
  const find = async (name: string) =>
    (await bed.call('GET', path, { identity: asOwner() })).body.items.find(
      (item: { name: string }) => item.name === name,
    );

  it('counts in a dry run, deletes what fits, and leaves the rest', async () => {
    await fill('plain');
    const where = { n: { $gte: 6 } };
    expect((await remove('plain', where, '&dryRun=1')).body).toEqual({
      count: 4,
      hasMore: false,
      nextCursor: null,
      dryRun: true,
    });
    expect(await numbers('plain')).toHaveLength(10);
    const gone = { count: 4, hasMore: false, nextCursor: null };
    expect((await remove('plain', where)).body).toEqual(gone);
    expect(await numbers('plain')).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await remove('plain', where)).body).toEqual({ ...gone, count: 0 });
    expect(await find('plain')).toMatchObject({ count: 6 });
    const ofBob = await remove('plain', { ownerId: bob }, '', asOwner());
    expect(ofBob.body.count).toBe(0);
    expect((await remove('plain', { ownerId: ada }, '', asOwner())).body.count).toBe(6);
    expect((await remove('nowhere', { a: 1 })).body).toEqual({ ...gone, count: 0 });
  });

  it('frees unique values and words, and ends shares', async () => {
    const set = {
      unique: ['code'],
      search: true,
      access: { read: ['shared'], create: ['users'], change: ['owner'] },
    };
    await bed.call('PUT', `${path}/kept`, { identity: asOwner(), body: set });
    await fill('kept');
    const [first] = (await bed.call('GET', '/db/kept?sort=n&limit=1', { identity })).body.items;
    await bed.call('PUT', `/db/kept/${first.id}/_shares`, {
      identity,
      body: { userId: bob, may: 'read' },
    });
    const before = (await find('kept')).sizeBytes;
    expect((await remove('kept', { n: { $lt: 5 } })).body.count).toBe(5);
    const rows = async (table: string) =>
      (
        await bed.database.query<{ rows: number }>(
          `SELECT count(*) AS rows FROM ${table} WHERE coll_id = (SELECT coll_id FROM collections WHERE name = 'kept')`,
        )
      )[0]?.rows;
    expect([await rows('unique_values'), await rows('search_texts'), await rows('shares')]).toEqual(
      [5, 5, 0],
    );
    expect((await find('kept')).sizeBytes).toBeLessThan(before / 1.9);
    expect((await bed.create('kept', { code: 'c1' }, asUser(ada))).code).toBe('c1');
  });

  it.each(['', '?where={}', '?where={"$and":[{}]}', '?dryRun=1'])(
    'is refused without a condition: %s',
    async (query) => {
      await fill('safe', 2);
      const { status, body } = await bed.call('DELETE', `/db/safe${query}`, { identity });
      expect(status).toBe(400);
      if (!query.includes('$and')) expect(body.hint).toContain('?empty=1');
      expect((await numbers('safe')).length).toBeGreaterThan(0);
    },
  );

  it('is for the owner and keys alone, and reaches no other project', async () => {
    await fill('closed', 3);
    expect((await remove('closed', { n: 1 }, '', anonymous())).status).toBe(401);
    expect((await remove('closed', { n: 1 }, '', asUser(ada))).status).toBe(403);
    const other = { ...testProject, id: 'other', number: 3200 };
    expect((await remove('closed', { n: 1 }, '', asKey({ project: other }))).body.count).toBe(0);
    expect(await numbers('closed')).toEqual([0, 1, 2]);
  });

  it('ends early where it takes long, and goes on by its cursor', async () => {
    await fill('long', 500);
    await fill('long', 300);
    const [row] = await bed.database.query<{ id: number }>(
      `SELECT coll_id AS id FROM collections WHERE name = 'long'`,
    );
    const shares = cpuWork({ places: 1 });
    const { run } = createDeletions({
      send: createSendChange(bed.database),
      database: bed.database,
      refresh: unchanged,
      scans: shares,
      batches: shares,
      workMs: 0,
    });
    const collection = {
      projectNumber: testProject.number,
      id: row?.id ?? 0,
      name: 'long',
      epoch: 1,
      access: 'shared' as const,
      slots: [],
      unique: [],
    };
    const selection = {
      collection,
      access: fullAccess('shared'),
      ownerId: undefined,
      filter: splitFilter(parseWhere('{"n":{"$gte":100}}')),
    };
    const requester = toRequester({ project: testProject, ip: '192.0.2.1' });
    const first = await run(selection, undefined, { requester });
    expect(first.count).toBe(400);
    expect(first.next).not.toBeNull();
    const second = await run(selection, first.next ?? undefined, { requester });
    expect(second).toEqual({ count: 200, next: null });
    expect(await numbers('long')).toHaveLength(100);
  });

  it('refuses a cursor of another filter', async () => {
    await fill('cursors', 3);
    const listed = await bed.call('GET', '/db/cursors?limit=1', { identity });
    const answer = await remove('cursors', { n: 1 }, `&cursor=${listed.body.nextCursor}`);
    expect(answer.body.code).toBe('invalid_cursor');
    expect(await numbers('cursors')).toHaveLength(3);
  });

  it('deletes nothing that has changed so that it no longer fits, whoever changes it at once', async () => {
    await fill('race', 50);
    const { items } = (await bed.call('GET', '/db/race', { identity })).body;
    const [removed, ...changed] = await Promise.all([
      remove('race', { n: { $gte: 0 } }),
      ...items.map(({ id }: { id: string }) =>
        bed.call('PATCH', `/db/race/${id}`, { identity, body: { data: { n: -1 } } }),
      ),
    ]);
    const kept = changed.filter(({ status }) => status === 200).length;
    const left = await numbers('race');
    expect(left.every((n: number) => n === -1)).toBe(true);
    expect(left.length + removed.body.count).toBe(50);
    expect(left.length).toBeLessThanOrEqual(kept);
  });

  refusesStrangers(
    recordRoutes.deleteRecords,
    () => bed.http,
    () => ({ path: '/db/plain?where={"n":1}' }),
  );
});
