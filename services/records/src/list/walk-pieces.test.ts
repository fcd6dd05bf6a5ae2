import { cpuWork, FairShareFull } from '@backlot/fair-shares';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseSort } from '../query/sort.ts';
import { readItems } from '../testing/read-items.ts';
import {
  atOnce,
  createScanBed,
  limits,
  reader,
  type ScanBed,
  type ScanQuery,
  selectRecords,
} from '../testing/scan-bed.ts';
import { unchanged } from '../testing/test-bed.ts';
import { createCounts } from './counts.ts';
import { createLists } from './lists.ts';
import type { PieceBounds } from './walk-pieces.ts';

describe('scans in pieces', () => {
  let bed: ScanBed;
  beforeAll(async () => {
    bed = await createScanBed();
  });
  afterAll(() => bed.close());

  const many = Array.from({ length: 40 }, (_, n) => ({ n, odd: n % 2 === 1 }));
  const byN: ScanQuery = {
    where: { odd: true },
    sort: 'n',
    limit: 3,
    offset: 0,
    who: 'key',
    isMine: false,
  };
  const tens = { firstRows: 10, mostRows: 10, pieceMs: 1000, workMs: 60_000 };

  it('let others run in between, and end with their caller', async () => {
    const { collection } = await bed.fill(many);
    const shares = cpuWork({ places: 1, sliceMs: 0 });
    const order: string[] = [];
    const lists = createLists({
      database: bed.database,
      limits,
      refresh: unchanged,
      pieceBounds: tens,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: shares,
    });
    const gone = new AbortController();
    bed.scans.before = async () => {
      order.push('piece');
      if (order.length === 2)
        void shares.run(['eve', 'y', '192.0.2.2'], async () => order.push('other'));
      if (order.length === 6) gone.abort(new Error('gone'));
    };
    const list = () =>
      lists.page(
        { ...selectRecords(collection, byN), ...byN, sort: parseSort(byN.sort), after: undefined },
        { ...reader, signal: gone.signal },
      );
    await expect(list()).rejects.toThrow('gone');
    bed.scans.before = async () => {};
    expect(order).toEqual(['piece', 'piece', 'other', 'piece', 'piece', 'piece']);
  });

  it('wait for no slow one where such scans have been quick', async () => {
    const { collection } = await bed.fill(many);
    const shares = cpuWork({ places: 1 });
    const quickScans = cpuWork({ places: 1 });
    const deps = {
      database: bed.database,
      limits,
      refresh: unchanged,
      pieceBounds: { ...atOnce, quickMs: 60_000 },
      scans: shares,
      quickScans,
      largeReads: shares,
      answers: shares,
    };
    const [lists, counts] = [createLists(deps), createCounts(deps)];
    const selection = selectRecords(collection, byN);
    const read = async () => {
      const page = { ...selection, ...byN, sort: parseSort(byN.sort), after: undefined };
      await lists.page(page, reader);
      return counts.count(selection, reader);
    };
    await read();
    let end = () => {};
    const slow = shares.run(
      ['eve', 'y', '192.0.2.2'],
      () => new Promise<void>((ended) => (end = ended)),
    );
    expect(await read()).toEqual({ count: 20 });
    end();
    await slow;
  });

  it('look at a few bytes in each piece, whatever a record weighs', async () => {
    const text = 'word '.repeat(400);
    const { collection } = await bed.fill(
      many.map((data, n) => ({ ...data, text: `${text}${n}` })),
    );
    const [{ bytes = 0 } = {}] = await bed.database.query<{ bytes: number }>(
      'SELECT max(size_bytes) AS bytes FROM records WHERE project_id = 1 AND coll_id = $1',
      [collection.id],
    );
    const looked: number[] = [];
    const deps = {
      ...bed.database,
      async scan<Row>(sql: string, values?: readonly unknown[]) {
        const rows = await bed.database.scan<Row & { looked?: number }>(sql, values);
        for (const row of rows) if (row.looked !== undefined) looked.push(row.looked);
        return rows;
      },
    };
    const shares = cpuWork({ places: 1 });
    const pieces = async (where: object, pieceBytes: number, sort = 'id') => {
      const lists = createLists({
        database: deps,
        limits: { ...limits, pageBytes: 1_000_000 },
        refresh: unchanged,
        pieceBounds: { ...atOnce, firstRows: 1, mostRows: 1000, pieceBytes },
        scans: shares,
        quickScans: shares,
        largeReads: shares,
        answers: shares,
      });
      looked.length = 0;
      const query = { ...byN, where, sort, limit: 30 };
      await lists.page(
        { ...selectRecords(collection, query), ...query, sort: parseSort(sort), after: undefined },
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
    const { collection } = await bed.fill(many);
    const hurried = { ...tens, patienceMs: 0 };
    for (const sort of ['n', 'id'])
      await expect(
        bed.readPage(collection, { ...byN, limit: 30, sort }, hurried),
      ).rejects.toBeInstanceOf(FairShareFull);
  });

  it('stay within the budget of rows and of time', async () => {
    const { collection } = await bed.fill(many);
    const page = (scanRows: number, pieceBounds: PieceBounds, sort: string) =>
      bed.readers(pieceBounds, scanRows).lists.page(
        {
          ...selectRecords(collection, byN),
          ...byN,
          limit: 30,
          sort: parseSort(sort),
          after: undefined,
        },
        reader,
      );
    for (const sort of ['n', 'id']) {
      expect(await readItems(await page(40, tens, sort))).toHaveLength(20);
      await expect(page(39, tens, sort)).rejects.toMatchObject({ code: 'query_too_expensive' });
      bed.scans.sent = 0;
      const noTime = { ...tens, workMs: 0 };
      await expect(page(40, noTime, sort)).rejects.toMatchObject({ code: 'query_too_expensive' });
      expect(bed.scans.sent).toBe(1);
    }
    expect(await bed.count(collection, byN, tens, 40)).toEqual({ count: 20 });
    expect(await bed.count(collection, byN, tens, 20)).toEqual({ count: 20, approximate: true });
    expect(await bed.count(collection, { ...byN, where: {} }, tens, 20)).toEqual({ count: 40 });
  });

  it('are one statement where there is little to look through', async () => {
    const { collection } = await bed.fill(many.slice(0, 10));
    for (const query of [byN, { ...byN, sort: 'id' }]) {
      bed.scans.sent = 0;
      expect(await readItems(await bed.readPage(collection, query, tens))).toHaveLength(3);
      expect(await bed.count(collection, query, tens)).toEqual({ count: 5 });
      expect(bed.scans.sent).toBe(2);
    }
  });

  it('refuse sort keys that are together larger than what one list may keep', async () => {
    const { collection } = await bed.fill(
      Array.from({ length: 12 }, (_, n) => ({ n, text: `${n}${'x'.repeat(500_000)}` })),
    );
    const page = (limit: number) =>
      bed.readPage(
        collection,
        { ...byN, where: {}, sort: 'text', limit },
        { ...tens, firstRows: 5 },
      );
    expect(await readItems(await page(2))).toMatchObject([{ n: 0 }]);
    await expect(page(100)).rejects.toMatchObject({ code: 'query_too_expensive' });
  });
});
