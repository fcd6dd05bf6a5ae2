import type { Database } from '@backlot/database';
import { cpuWork } from '@backlot/fair-shares';
import { anonymous, asKey, asUser } from '@backlot/testing';
import { V7Generator } from 'uuidv7';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { type Count, createCounts } from '../list/counts.ts';
import { createLists, type ListPage } from '../list/lists.ts';
import type { PieceBounds } from '../list/walk-pieces.ts';
import type { CursorPosition } from '../query/cursor.ts';
import { splitFilter } from '../query/selection.ts';
import { parseSort } from '../query/sort.ts';
import { idTimeMs } from '../timestamps.ts';
import { parseWhere } from '../where/parse.ts';
import { ada, bob, createTestBed, unchanged } from './test-bed.ts';

const callers = { key: asKey(), ada: asUser(ada), anonymous: anonymous() };

export interface ScanQuery {
  where: object;
  sort: string;
  limit: number;
  offset: number;
  who: keyof typeof callers;
  isMine: boolean;
}

/** One piece. */
export const atOnce = { firstRows: 1000, mostRows: 1000, pieceMs: 60_000, workMs: 60_000 };

export const limits = { scanRows: 1000, pageBytes: 4000 };
export const reader = { requester: ['ada', 'x', '192.0.2.1'] as const };

export const selectRecords = (collection: Collection, { where, who, isMine }: ScanQuery) => {
  const identity = callers[who];
  return {
    collection,
    access: resolveAccess(collection.access, identity),
    filter: splitFilter(parseWhere(JSON.stringify(where))),
    ownerId: isMine && who === 'ada' ? ada : undefined,
  };
};

/** For lists and counts that look through records in pieces, without an index. */
export const createScanBed = async () => {
  const bed = await createTestBed();
  let made = 0;
  /** Of statements that look through records. */
  const scans = { sent: 0, before: async () => {} };
  const database: Database = {
    ...bed.database,
    async scan<Row>(text: string, values?: readonly unknown[]) {
      scans.sent += 1;
      await scans.before();
      return bed.database.scan<Row>(text, values);
    },
  };

  /** A collection with these records. */
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

  const readers = (pieceBounds: PieceBounds, scanRows = limits.scanRows) => {
    const shares = cpuWork({ places: 1, sliceMs: 0 });
    const deps = {
      database,
      limits: { ...limits, scanRows },
      refresh: unchanged,
      pieceBounds,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: cpuWork({ places: 1 }),
    };
    return { lists: createLists(deps), counts: createCounts(deps) };
  };
  const readPage = (
    collection: Collection,
    query: ScanQuery,
    pieceBounds: PieceBounds,
    after?: CursorPosition,
    signal?: AbortSignal,
  ): Promise<ListPage> => {
    const { sort, limit, offset } = query;
    return readers(pieceBounds).lists.page(
      {
        ...selectRecords(collection, query),
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
    query: ScanQuery,
    pieceBounds: PieceBounds,
    scanRows?: number,
  ): Promise<Count> =>
    readers(pieceBounds, scanRows).counts.count(selectRecords(collection, query), reader);

  return { ...bed, database, scans, fill, readers, readPage, count };
};

export type ScanBed = Awaited<ReturnType<typeof createScanBed>>;
