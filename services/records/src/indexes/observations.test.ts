import { randomBytes } from 'node:crypto';
import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import type { Selection } from '../query/selection.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createSlotAssignment, type SlotAssignment } from './assign.ts';
import { createObservations } from './observations.ts';

const outbox = { append: async () => {} } as unknown as Parameters<typeof createSlotAssignment>[1];

interface Index {
  field: string;
  state: string;
  isPinned: boolean;
  reason: { scans: number; scannedMs: number } | null;
  uses: number;
  lastUsedAt: string | null;
}

describe('indexes that make themselves', () => {
  let bed: TestBed;
  const identity = asKey();
  beforeAll(async () => {
    bed = await createTestBed();
    await load('parts', 3000);
    await load('few', 1500);
  });
  afterAll(() => bed.close());

  const load = async (collection: string, records: number) => {
    for (let n = 0; n < records; n += 500) {
      const create = Array.from({ length: 500 }, (_, i) => ({
        data: { n: n + i, kind: `k${i % 100}`, tags: [n, i], at: { n: i } },
      }));
      const sent = { identity, body: { create } };
      const { status } = await bed.call('POST', `/db/${collection}/_batch`, sent);
      expect(status).toBe(200);
    }
  };
  const indexes = async (collection: string): Promise<Index[]> => {
    const path = `/platform/projects/${testProject.id}/collections`;
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection).indexes;
  };
  const get = async (path: string, query: Record<string, string>) => {
    const { status, body } = await bed.call('GET', `${path}?${new URLSearchParams(query)}`, {
      identity,
    });
    expect(status).toBe(200);
    return body;
  };

  it('follow from what is asked often, and are used', async () => {
    const longName = randomBytes(3000).toString('hex');
    const where = JSON.stringify({ kind: 'k7', tags: 7, none: { $gt: 1 } });
    const scanMany = async () => {
      for (let i = 0; i < 20; i++) {
        await get('/db/parts', { where, limit: '5' });
        await get('/db/few', { where, limit: '5' });
        await get('/db/parts', { sort: 'n', limit: '5' });
        // Longer than PostgreSQL keeps as a key, and what was seen of the others is not lost with it.
        await get('/db/few', { where: JSON.stringify({ [longName]: 1 }) });
      }
      const made = await indexes('parts');
      return made.length === 2 && made.every(({ state }) => state === 'ready');
    };
    await until(scanMany, { timeoutMs: 180_000, what: 'the index' });
    const made = await indexes('parts');
    expect(made.map(({ field, isPinned }) => [field, isPinned])).toEqual([
      ['kind', false],
      ['n', false],
    ]);
    for (const { reason } of made) {
      expect(reason?.scans).toBeGreaterThan(0);
      expect(reason?.scannedMs).toBeGreaterThan(0);
    }
    expect(await indexes('few')).toEqual([]);
    const used = await until(async () => {
      const items = (await get('/db/parts', { sort: 'n', limit: '3' })).items;
      expect(items.map(({ n }: { n: number }) => n)).toEqual([0, 1, 2]);
      const count = await get('/db/parts/_count', { where: '{"kind":"k3"}' });
      expect(count).toEqual({ count: 30 });
      const now = await indexes('parts');
      return now.every(({ uses, lastUsedAt }) => uses > 0 && lastUsedAt) && now;
    });
    expect(used).toHaveLength(2);
  }, 300_000);

  /** As the lists of a process see it. */
  const find = async (name: string): Promise<Collection> => {
    const [row] = await bed.database.query<Pick<Collection, 'id' | 'epoch'>>(
      'SELECT coll_id AS id, epoch FROM collections WHERE project_id = $1 AND name = $2',
      [testProject.number, name],
    );
    if (!row) throw new Error('The collection is missing.');
    const known = { projectNumber: testProject.number, name, access: 'shared' } as const;
    return { ...row, ...known, slots: [], unique: [] };
  };
  const lists = (collection: Collection): Selection => ({
    collection,
    access: resolveAccess('shared', identity),
    ownerId: undefined,
    filter: { bounds: [], conditions: [] },
  });
  const untilFolded = (collection: string, records = 2000) =>
    until(async () => {
      const counted = `SELECT FROM collections WHERE name = $1 AND row_count >= $2`;
      return (await bed.database.query(counted, [collection, records])).length > 0;
    });

  it('are found however many names others make up', async () => {
    await load('sought', 2000);
    await untilFolded('sought');
    const { database } = bed;
    const slots = createSlotAssignment(database, outbox);
    const observations = createObservations({ database, slots, now: Date.now });
    const sought = lists(await find('sought'));
    let made = 0;
    const askForMadeUp = (times: number) => {
      for (let i = 0; i < times; i++) {
        const fields = Array.from({ length: 20 }, () => `made-up ${made++}`);
        observations.scanned(sought, fields, { ms: 50, isSlow: false });
      }
    };
    const report = async () => {
      askForMadeUp(5);
      observations.scanned(sought, ['kind'], { ms: 50, isSlow: false });
      askForMadeUp(1);
      await observations.report();
      return (await indexes('sought')).length > 0;
    };
    await until(report, { timeoutMs: 60_000, what: 'the index' });
    const [index] = await indexes('sought');
    expect(index?.field).toBe('kind');
    const observed = 'SELECT FROM observations WHERE coll_id = $1';
    expect(await database.query(observed, [sought.collection.id])).toHaveLength(50);
  });

  it('are found beside a collection that can not be looked at', async () => {
    await load('broken', 2000);
    await load('beside', 2000);
    await untilFolded('broken');
    await untilFolded('beside');
    const observed: string[] = [];
    const observe: SlotAssignment['observe'] = async ({ name }, [wanted]) => {
      if (name === 'broken') throw new Error('The sample took too long.');
      observed.push(`${name} ${wanted?.field} ${wanted?.scans}`);
      return new Map();
    };
    const { database } = bed;
    const observations = createObservations({ database, slots: { observe }, now: Date.now });
    for (const name of ['broken', 'beside'])
      for (let i = 0; i < 2; i++)
        observations.scanned(lists(await find(name)), ['kind'], { ms: 50, isSlow: false });
    await expect(observations.report()).rejects.toThrow(AggregateError);
    expect(observed).toEqual(['beside kind 2']);
  });

  it('say why they are not made, and what building waits for', async () => {
    await load('asked', 2500);
    await untilFolded('asked', 2500);
    const { database } = bed;
    const real = createSlotAssignment(database, outbox);
    let fails = true;
    const observe: SlotAssignment['observe'] = (collection, wanted) =>
      fails
        ? Promise.reject(new Error('The sample took too long.'))
        : real.observe(collection, wanted);
    const observations = createObservations({ database, slots: { observe }, now: Date.now });
    const path = `/platform/projects/${testProject.id}/collections`;
    const missing = async (collection: string) => {
      const { body } = await bed.call('GET', path, { identity: asOwner() });
      const { missingIndexes } = body.items.find(
        ({ name }: { name: string }) => name === collection,
      );
      return Object.fromEntries(
        missingIndexes.map(({ field, state }: { field: string; state: string }) => [field, state]),
      );
    };
    const look = async (collection: string, fields: string[], ms: number, isSlow = false) => {
      observations.scanned(lists(await find(collection)), fields, { ms, isSlow });
      return observations.report();
    };
    await look('few', ['n'], 5, true);
    expect(await missing('few')).toMatchObject({ n: 'few_records' });
    await look('asked', ['n'], 1);
    expect(await missing('asked')).toEqual({ n: 'seldom' });
    await expect(look('asked', ['n'], 1000)).rejects.toThrow(AggregateError);
    expect(await missing('asked')).toEqual({ n: 'failed' });
    fails = false;
    const { id } = await find('asked');
    const take = (count: number, state: string) =>
      database.query(
        `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at)
         SELECT $1, $2, n, 'pinned' || n, $4, true, now() FROM generate_series(1, $3::int) n
         ON CONFLICT (project_id, coll_id, slot) DO UPDATE SET state = excluded.state`,
        [testProject.number, id, count, state],
      );
    await take(6, 'ready');
    await look('asked', ['n', 'none'], 1000);
    expect(await missing('asked')).toEqual({ n: 'no_room', none: 'no_values' });
    await take(1, 'building');
    await look('asked', ['n'], 1000);
    expect(await missing('asked')).toMatchObject({ n: 'waiting' });
    const building = (await indexes('asked')).find(({ state }) => state === 'building');
    expect(building).toMatchObject({ progress: 0, waitsFor: 'writes' });
    await database.query(`DELETE FROM slots WHERE coll_id = $1`, [id]);
    await look('asked', ['n'], 1000);
    expect(await missing('asked')).not.toHaveProperty('n');
    expect((await indexes('asked')).map(({ field }) => field)).toEqual(['n']);
  });

  it('make room for others once nobody uses them, and go in the end', async () => {
    // No list has used or wanted its indexes: what is reported of those changes nothing here.
    await load('idle', 2000);
    const { id } = await find('idle');
    const slots = createSlotAssignment(bed.database, outbox);
    const idle = { projectNumber: testProject.number, id, name: 'idle' };
    const observe = (field: string) => slots.observe(idle, [{ field, scans: 3, scannedMs: 150 }]);
    const untilReady = () =>
      until(async () => (await indexes('idle')).every(({ state }) => state === 'ready'));
    for (const field of ['kind', 'n']) {
      await observe(field);
      await untilReady();
    }
    const age = (days: number) =>
      bed.database.query(
        `UPDATE slots SET assigned_at = now() - $2 * interval '1 day', ready_at = now() - $2 * interval '1 day'
         WHERE coll_id = $1 AND NOT is_pinned`,
        [id, days],
      );
    await bed.database.query(
      `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at)
       SELECT $1, $2, n, 'pinned' || n, 'ready', true, now() FROM generate_series(3, 6) n`,
      [testProject.number, id],
    );
    const fields = async () => (await indexes('idle')).map(({ field }) => field);
    const before = await fields();
    expect(before).toHaveLength(6);
    await observe('at.n');
    await observe('none');
    expect(await fields()).toEqual(before);
    await age(2);
    await observe('tags');
    await observe('none');
    expect(await fields()).toEqual(before);
    await observe('at.n');
    const after = await fields();
    expect(after).toContain('at.n');
    expect(after).toHaveLength(6);
    await untilReady();
    await age(15);
    await slots.dropUnused();
    await until(async () => (await fields()).length === 4);
    const [left] = await bed.database.query<{ count: number }>(
      'SELECT count(*) FROM records WHERE project_id = $1 AND coll_id = $2 AND (k1 IS NOT NULL OR k2 IS NOT NULL)',
      [testProject.number, id],
    );
    expect(left?.count).toBe(0);
  });
});

describe('one list that is refused', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ scanRows: 5000 });
  });
  afterAll(() => bed.close());

  it('is enough for an index of a large collection, though its newest records lack the field', async () => {
    await bed.create('large', { n: 0 });
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(),
         CASE WHEN n <= 18000 THEN jsonb_build_object('n', n) ELSE '{}' END
       FROM collections, generate_series(1, 20000) n WHERE name = 'large'`,
    );
    await bed.database.query(`UPDATE collections SET row_count = 20000 WHERE name = 'large'`);
    const refused = await bed.call('GET', '/db/large?sort=n', { identity: asKey() });
    expect(refused).toMatchObject({ status: 422, body: { code: 'query_too_expensive' } });
    const field = await until(async () => {
      const [slot] = await bed.database.query<{ field: string }>('SELECT field FROM slots');
      return slot?.field;
    });
    expect(field).toBe('n');
  });
});
