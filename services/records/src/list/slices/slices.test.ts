import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@backlot/database';
import { cpuWork, FairShareFull } from '@backlot/fair-shares';
import { anonymous, asKey, asUser, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import type { CursorPosition } from '../../query/cursor.ts';
import { splitFilter } from '../../query/selection.ts';
import { parseSort } from '../../query/sort.ts';
import {
  conditions,
  documents,
  filters,
  paths,
  positionPaths,
  scalar,
} from '../../testing/arbitrary-filters.ts';
import { readItems } from '../../testing/read-items.ts';
import { ada, bob, createTestBed, type TestBed, unchanged } from '../../testing/test-bed.ts';
import { idTimeMs } from '../../timestamps.ts';
import { parseWhere } from '../../where/parse.ts';
import { type Count, createCounts } from '../counts.ts';
import { createLists, type ListPage } from '../lists.ts';

interface Query {
  where: object;
  sort: string;
  limit: number;
  offset: number;
  who: keyof typeof callers;
  isMine: boolean;
}

const long = 'é'.repeat(600);
const values = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom(long, `${long}a`, `${long}b`, [], [1], {}) },
);
const records = fc.tuple(documents(false), fc.record({ d: values }), fc.record({ n: fc.nat(3) }));
const collections = fc.array(
  records.map((parts) => Object.assign({}, ...parts) as Record<string, unknown>),
  { minLength: 1, maxLength: 16 },
);
const sorts = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.constantFrom('d', 'n', 'a.b', 'ownerId', 'updatedAt', 'id'),
      )
      .map((parts) => parts.join('')),
    { minLength: 1, maxLength: 3 },
  )
  .map((fields) => fields.join(','));
const wheres = fc.oneof(
  fc.constantFrom<object[]>({}, { n: { $gt: 0 } }, { n: { $lt: 3 } }),
  filters(conditions(fc.oneof(paths, positionPaths, fc.constant('d')), scalar, { sizes: true })),
);
const callers = { key: asKey(), ada: asUser(ada), anonymous: anonymous() };
const queries: fc.Arbitrary<Query> = fc.record({
  where: wheres,
  sort: fc.oneof(fc.constantFrom('id', '-id'), sorts),
  limit: fc.integer({ min: 2, max: 6 }),
  offset: fc.constantFrom(0, 0, 1, 5),
  who: fc.constantFrom('key', 'ada', 'anonymous'),
  isMine: fc.boolean(),
});
/** Pieces that have few rows, and pieces whose time is over at once. */
const slicings = fc.constantFrom(
  { firstRows: 1, mostRows: 1, sliceMs: 1000, workMs: 60_000 },
  { firstRows: 2, mostRows: 3, sliceMs: 1000, workMs: 60_000 },
  { firstRows: 5, mostRows: 5, sliceMs: 0, workMs: 60_000 },
  { firstRows: 1, mostRows: 50, sliceMs: 0, workMs: 60_000 },
);
const atOnce = { firstRows: 1000, mostRows: 1000, sliceMs: 60_000, workMs: 60_000 };

describe('scans in pieces', () => {
  let bed: TestBed;
  let made = 0;
  let beforeScan: () => Promise<void> = async () => {};
  let scans = 0;
  let database: Database;

  beforeAll(async () => {
    bed = await createTestBed();
    database = {
      ...bed.database,
      async scan<Row>(text: string, values?: readonly unknown[]) {
        scans += 1;
        await beforeScan();
        return bed.database.scan<Row>(text, values);
      },
    };
  });
  afterAll(() => bed.close());

  const fill = async (contents: readonly object[], access: Collection['access'] = 'shared') => {
    made += 1;
    const generator = new V7Generator();
    const start = Date.now();
    const ids = contents.map((_, i) =>
      generator.generateOrResetWithTs(start + Math.floor(i / 3)).toString(),
    );
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
       SELECT 1, $1, id, owner, time, time + change * interval '1 ms', data
       FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::int[], $6::jsonb[]) r(id, owner, time, change, data)`,
      [
        made,
        ids,
        contents.map((_, i) => [null, ada, bob][i % 3]),
        ids.map((id) => new Date(idTimeMs(id)).toISOString()),
        contents.map((_, i) => (i * 7) % 5),
        contents.map((data) => JSON.stringify(data)),
      ],
    );
    const collection: Collection = {
      projectNumber: 1,
      id: made,
      name: 'x',
      access,
      epoch: 1,
      slots: [],
      unique: [],
    };
    return { collection, ids };
  };

  const limits = { scanRows: 1000, pageBytes: 4000 };
  type Slicing = typeof atOnce;
  const readers = (slicing: Slicing, scanRows = limits.scanRows) => {
    const scans = cpuWork({ places: 1, sliceMs: 0 });
    const deps = {
      database,
      limits: { ...limits, scanRows },
      refresh: unchanged,
      slicing,
      scans,
      quickScans: scans,
      largeReads: scans,
      answers: cpuWork({ places: 1 }),
    };
    return { lists: createLists(deps), counts: createCounts(deps) };
  };
  const select = (collection: Collection, { where, who, isMine }: Query) => {
    const identity = callers[who];
    return {
      collection,
      access: resolveAccess(collection.access, identity),
      filter: splitFilter(parseWhere(JSON.stringify(where))),
      ownerId: isMine && who === 'ada' ? ada : undefined,
    };
  };
  const reader = { requester: ['ada', 'x', '192.0.2.1'] as const };
  const readPage = (
    collection: Collection,
    query: Query,
    slicing: Slicing,
    after?: CursorPosition,
    signal?: AbortSignal,
  ): Promise<ListPage> => {
    const { sort, limit, offset } = query;
    return readers(slicing).lists.page(
      {
        ...select(collection, query),
        sort: parseSort(sort),
        limit,
        offset: after ? 0 : offset,
        after,
      },
      { ...reader, signal },
    );
  };
  const count = (
    collection: Collection,
    query: Query,
    slicing: Slicing,
    scanRows?: number,
  ): Promise<Count> => readers(slicing, scanRows).counts.count(select(collection, query), reader);

  const readPages = async (collection: Collection, query: Query, slicing: Slicing) => {
    const pages: ListPage[] = [];
    let after: CursorPosition | undefined;
    do {
      const page = await readPage(collection, query, slicing, after);
      pages.push(page);
      after = page.hasMore ? (page.last ?? undefined) : undefined;
      expect(after !== undefined).toBe(page.hasMore);
    } while (after);
    return pages;
  };

  it('answer as one statement does, page by page, and count the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        collections,
        fc.constantFrom<Collection['access'][]>('shared', 'private'),
        fc.array(fc.tuple(queries, slicings), { minLength: 6, maxLength: 6 }),
        async (contents, access, tries) => {
          const { collection } = await fill(contents, access);
          for (const [query, slicing] of tries) {
            if (access === 'private' && query.who === 'anonymous') continue;
            const expected = await readPages(collection, query, atOnce);
            expect(await readPages(collection, query, slicing)).toEqual(expected);
            const total = await count(collection, query, atOnce);
            expect(await count(collection, query, slicing)).toEqual(total);
            expect(total).not.toHaveProperty('approximate');
          }
        },
      ),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('neither lose nor double what stays as it is, nor show what fits no more, while others change', async () => {
    const changes = fc.array(
      fc.record({
        i: fc.nat(50),
        n: fc.nat(9),
        kind: fc.constantFrom('change', 'delete', 'insert'),
      }),
      { minLength: 40, maxLength: 40 },
    );
    const sort = fc.constantFrom('n', '-n', 'd,n', '-d', 'id', '-id');
    await fc.assert(
      fc.asyncProperty(
        collections,
        slicings,
        changes,
        sort,
        fc.integer({ min: 1, max: 4 }),
        async (contents, slicing, todo, sort, limit) => {
          // A cursor with a long key stands by its record, which has to stay as it is, or its key's beginning.
          const { collection, ids } = await fill(
            contents.map((content, i) => (i % 2 === 1 ? { ...content, d: i } : content)),
          );
          /** Every other record changes. */
          const restless = ids.filter((_, i) => i % 2 === 1);
          const where = { n: { $lte: 2 } };
          const query = { where, sort, limit, offset: 0, who: 'key', isMine: false } as const;
          const all = await readPage(collection, { ...query, limit: 100 }, atOnce);
          const steady = (await readItems<{ id: string }>(all))
            .map(({ id }) => id)
            .filter((id) => !restless.includes(id));
          const inserted = new V7Generator();
          beforeScan = async () => {
            const { i, n, kind } = todo.pop() ?? { i: 0, n: 0, kind: 'none' };
            const id = restless[i % Math.max(1, restless.length)];
            const own = `project_id = 1 AND coll_id = ${collection.id}`;
            if (kind === 'insert') {
              const fresh = inserted.generateOrResetWithTs(Date.now() + i - 25).toString();
              restless.push(fresh);
              await bed.database.query(
                `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
                 VALUES (1, $1, $2, now(), now(), $3)`,
                [collection.id, fresh, JSON.stringify({ n: n % 4, d: n })],
              );
            } else if (kind === 'delete') {
              await bed.database.query(`DELETE FROM records WHERE ${own} AND id = $1`, [id]);
            } else if (kind === 'change') {
              await bed.database.query(`UPDATE records SET data = $2 WHERE ${own} AND id = $1`, [
                id,
                JSON.stringify({ n: n % 4, d: `${n}${long}` }),
              ]);
            }
          };
          const seen: string[] = [];
          let after: CursorPosition | undefined;
          do {
            const page = await readPage(collection, query, slicing, after);
            const items = await readItems<{ id: string }>(page);
            expect(items.length).toBeLessThanOrEqual(limit);
            seen.push(...items.map(({ id }) => id));
            const present = await bed.database.query<{ id: string }>(
              `SELECT id FROM records WHERE project_id = 1 AND coll_id = $1 AND (data -> 'n')::int <= 2`,
              [collection.id],
            );
            expect(present.map(({ id }) => id)).toEqual(
              expect.arrayContaining(items.map(({ id }) => id)),
            );
            after = page.hasMore ? (page.last ?? undefined) : undefined;
            expect(after !== undefined).toBe(page.hasMore);
          } while (after);
          beforeScan = async () => {};
          expect(seen.filter((id) => steady.includes(id))).toEqual(steady);
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });

  const many = Array.from({ length: 40 }, (_, n) => ({ n, odd: n % 2 === 1 }));
  const byN: Query = {
    where: { odd: true },
    sort: 'n',
    limit: 3,
    offset: 0,
    who: 'key',
    isMine: false,
  };
  const tens = { firstRows: 10, mostRows: 10, sliceMs: 1000, workMs: 60_000 };

  it('let others run in between, and end with their caller', async () => {
    const { collection } = await fill(many);
    const shares = cpuWork({ places: 1, sliceMs: 0 });
    const order: string[] = [];
    const lists = createLists({
      database,
      limits,
      refresh: unchanged,
      slicing: tens,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: shares,
    });
    const gone = new AbortController();
    beforeScan = async () => {
      order.push('piece');
      if (order.length === 2)
        void shares.run(['eve', 'y', '192.0.2.2'], async () => order.push('other'));
      if (order.length === 6) gone.abort(new Error('gone'));
    };
    const list = () =>
      lists.page(
        { ...select(collection, byN), ...byN, sort: parseSort(byN.sort), after: undefined },
        { ...reader, signal: gone.signal },
      );
    await expect(list()).rejects.toThrow('gone');
    beforeScan = async () => {};
    expect(order).toEqual(['piece', 'piece', 'other', 'piece', 'piece', 'piece']);
  });

  it('wait for no slow one where such scans have been quick', async () => {
    const { collection } = await fill(many);
    const shares = cpuWork({ places: 1 });
    const quickScans = cpuWork({ places: 1 });
    const deps = {
      database,
      limits,
      refresh: unchanged,
      slicing: atOnce,
      scans: shares,
      quickScans,
      largeReads: shares,
      answers: shares,
    };
    const [lists, counts] = [createLists(deps), createCounts(deps)];
    const selection = select(collection, byN);
    const read = async () => {
      const page = { ...selection, ...byN, sort: parseSort(byN.sort), after: undefined };
      await lists.page(page, reader);
      return counts.count(selection, reader);
    };
    // On a busy machine a scan of 40 records may not be quick.
    const isQuickNow = async () => {
      await read();
      let end = () => {};
      const slow = shares.run(
        ['eve', 'y', '192.0.2.2'],
        () => new Promise<void>((ended) => (end = ended)),
      );
      const reading = read();
      const first = await Promise.race([reading, pause(2000)]);
      end();
      await slow;
      expect(await reading).toEqual({ count: 20 });
      return first !== undefined;
    };
    await until(isQuickNow);
  });

  it('look at a few bytes in each piece, whatever a record weighs', async () => {
    const text = 'word '.repeat(400);
    const { collection } = await fill(many.map((data, n) => ({ ...data, text: `${text}${n}` })));
    const [{ bytes = 0 } = {}] = await bed.database.query<{ bytes: number }>(
      'SELECT max(size_bytes) AS bytes FROM records WHERE project_id = 1 AND coll_id = $1',
      [collection.id],
    );
    const looked: number[] = [];
    const deps = {
      ...database,
      async scan<Row>(sql: string, values?: readonly unknown[]) {
        const rows = await bed.database.scan<Row & { looked?: number }>(sql, values);
        for (const row of rows) if (row.looked !== undefined) looked.push(row.looked);
        return rows;
      },
    };
    const shares = cpuWork({ places: 1 });
    const pieces = async (where: object, sliceBytes: number, sort = 'id') => {
      const lists = createLists({
        database: deps,
        limits: { ...limits, pageBytes: 1_000_000 },
        refresh: unchanged,
        slicing: { ...atOnce, firstRows: 1, mostRows: 1000, sliceBytes },
        scans: shares,
        quickScans: shares,
        largeReads: shares,
        answers: shares,
      });
      looked.length = 0;
      const query = { ...byN, where, sort, limit: 30 };
      await lists.page(
        { ...select(collection, query), ...query, sort: parseSort(sort), after: undefined },
        reader,
      );
      return looked.slice(2);
    };
    const contains = (n: number) => ({ text: { $contains: `none ${n}` } });
    // A piece has a byte budget, times one for the document and one for each test.
    for (const sort of ['id', 'n']) {
      const one = await pieces(contains(0), 2 * 6 * bytes, sort);
      expect([sort, Math.max(...one), one.length]).toEqual([sort, 6, expect.any(Number)]);
      const $or = Array.from({ length: 5 }, (_, n) => contains(n));
      expect(Math.max(...(await pieces({ $or }, 2 * 6 * bytes, sort)))).toBe(2);
      expect(new Set(await pieces({ $or }, 1, sort))).toEqual(new Set([1]));
    }
  });

  it('end with 503 where their turns would take longer than anybody waits', async () => {
    const { collection } = await fill(many);
    const hurried = { ...tens, patienceMs: 0 };
    for (const sort of ['n', 'id'])
      await expect(
        readPage(collection, { ...byN, limit: 30, sort }, hurried),
      ).rejects.toBeInstanceOf(FairShareFull);
  });

  it('stay within the budget of rows and of time', async () => {
    const { collection } = await fill(many);
    const page = (scanRows: number, slicing: Slicing, sort: string) =>
      readers(slicing, scanRows).lists.page(
        { ...select(collection, byN), ...byN, limit: 30, sort: parseSort(sort), after: undefined },
        reader,
      );
    for (const sort of ['n', 'id']) {
      expect(await readItems(await page(40, tens, sort))).toHaveLength(20);
      await expect(page(39, tens, sort)).rejects.toMatchObject({ code: 'query_too_expensive' });
      scans = 0;
      const noTime = { ...tens, workMs: 0 };
      await expect(page(40, noTime, sort)).rejects.toMatchObject({ code: 'query_too_expensive' });
      expect(scans).toBe(1);
    }
    expect(await count(collection, byN, tens, 40)).toEqual({ count: 20 });
    expect(await count(collection, byN, tens, 20)).toEqual({ count: 20, approximate: true });
    expect(await count(collection, { ...byN, where: {} }, tens, 20)).toEqual({ count: 40 });
  });

  it('are one statement where there is little to look through', async () => {
    const { collection } = await fill(many.slice(0, 10));
    for (const query of [byN, { ...byN, sort: 'id' }]) {
      scans = 0;
      expect(await readItems(await readPage(collection, query, tens))).toHaveLength(3);
      expect(await count(collection, query, tens)).toEqual({ count: 5 });
      expect(scans).toBe(2);
    }
  });

  it('refuse sort keys that are together larger than what one list may keep', async () => {
    const { collection } = await fill(
      Array.from({ length: 12 }, (_, n) => ({ n, text: `${n}${'x'.repeat(500_000)}` })),
    );
    const page = (limit: number) =>
      readPage(collection, { ...byN, where: {}, sort: 'text', limit }, { ...tens, firstRows: 5 });
    expect(await readItems(await page(2))).toMatchObject([{ n: 0 }]);
    await expect(page(100)).rejects.toMatchObject({ code: 'query_too_expensive' });
  });
});
