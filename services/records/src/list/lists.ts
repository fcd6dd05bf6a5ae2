import { ApiError } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import type { JsonParts } from '@backlot/http';
import { checkRead } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../slots/current-slots.ts';
import { listDrivers, wantedFields } from '../slots/drivers.ts';
import type { Observations } from '../slots/observations.ts';
import { slotListStatement } from '../slots/slot-statement.ts';
import type { CursorKey, CursorPosition } from './cursor.ts';
import { createLargePages } from './large-pages.ts';
import {
  type ListQuery,
  type ListStatement,
  listStatement,
  type ReadLimits,
  type Stretch,
  scannedFor,
  smallListStatement,
} from './list-statement.ts';
import type { Reader } from './reader.ts';
import { createSlicedLists } from './sliced-lists.ts';
import { type Slicing, usualSlicing } from './slices.ts';

export interface ListPage {
  /** The records as a JSON array, or where they are large the parts of what is inside of one. */
  items: string | JsonParts;
  hasMore: boolean;
  /** Where the page ended; null where it shows nothing. */
  last: CursorPosition | null;
}

export interface Lists {
  /** @throws ApiError unauthenticated, query_too_expensive; FairShareFull */
  page(query: ListQuery, reader: Reader): Promise<ListPage>;
}

export interface ListsDeps {
  database: Database;
  limits: ReadLimits;
  refresh: Collections['refresh'];
  scans: FairShares;
  answers: FairShares;
  observations?: Observations;
  slicing?: Slicing;
}

/** Pages up to this size are fast enough for the pipelined connection, where others wait behind them. */
const maxPipelinedLimit = 100;

/** What one statement by a slot looks through, at most. */
export const slotStretch: Stretch = { rows: 10_000, ms: 100 };

const emptyPage: ListPage = { items: '[]', hasMore: false, last: null };

interface PageRow {
  /** Null where the documents are large. */
  items: string | null;
  ids: string[];
  sizes: number[];
  more: boolean;
  last_id: string | null;
  last_keys: string[];
  unfinished: boolean;
  exceeded: boolean;
  /** Of a page by a slot. */
  epoch?: number;
}

const tooExpensive = (field: string, scanRows: number) =>
  new ApiError(
    'query_too_expensive',
    `This list would read more than ${scanRows} records for "${field}".`,
    {
      hint: 'Narrow it down, for example by "createdAt", or sort by "-createdAt" and page with "cursor".',
    },
  );

export const createLists = ({
  database,
  limits,
  refresh,
  scans,
  answers,
  observations,
  slicing = usualSlicing,
}: ListsDeps): Lists => {
  const openLargePage = createLargePages({ database, scans, answers });
  const find = createSlicedLists({ database, limits, slicing });
  const stretch = { rows: slicing.firstRows, ms: slicing.sliceMs };

  /** Undefined where the page is large. */
  const readPipelined = async (
    name: string,
    { text, values }: ListStatement,
  ): Promise<ListPage | undefined> => {
    const [row = []] = await database.read(name, text, values);
    const [items, more, lastId] = row;
    if (items === undefined || items === null) return undefined;
    return {
      items,
      hasMore: more === 't',
      last: lastId ? { keys: [], id: lastId } : null,
    };
  };

  const readPage = async (
    read: Database['query'],
    query: ListQuery,
    reader: Reader,
    { text, values } = listStatement(query, limits),
  ): Promise<ListPage | 'unfinished' | 'exceeded'> => {
    const [row] = await read<PageRow>(text, values);
    if (!row) return emptyPage;
    if (row.epoch !== undefined && row.epoch !== query.collection.epoch) throw new StaleSlots();
    if (row.exceeded) return 'exceeded';
    if (row.unfinished) return 'unfinished';
    const { more, last_id, last_keys } = row;
    const items = row.items ?? openLargePage(query, row, reader);
    const last = last_id === null ? null : { keys: last_keys.map(parseCursorKey), id: last_id };
    return { items, hasMore: more, last };
  };

  /** Undefined where the slots do not lead to the page within their stretch. */
  const readBySlots = async (query: ListQuery, reader: Reader, yieldSlot: YieldSlot) => {
    for (const driver of listDrivers(query)) {
      const statement = slotListStatement(query, driver, limits, slotStretch);
      if (!statement) continue;
      const page = await readPage(database.scan, query, reader, statement);
      if (typeof page === 'object') {
        observations?.used(query.collection, driver.slot);
        return page;
      }
      await yieldSlot();
    }
    return undefined;
  };

  /** Small scans are one statement. */
  const scan = async (query: ListQuery, reader: Reader, yieldSlot: YieldSlot) => {
    const bySlots = await readBySlots(query, reader, yieldSlot);
    if (bySlots) return bySlots;
    const first = listStatement(query, limits, stretch);
    const startedAt = performance.now();
    const atOnce = await readPage(database.scan, query, reader, first);
    observations?.scanned(query, wantedFields(query, query.sort), {
      ms: performance.now() - startedAt,
      isSlow: atOnce === 'unfinished',
    });
    if (atOnce !== 'unfinished') return atOnce;
    const found = await find(query, yieldSlot);
    if (!found) return 'exceeded';
    await yieldSlot();
    const page = await readPage(database.scan, found.query, reader);
    if (typeof page === 'string' || !found.end) return page;
    return { ...page, hasMore: true, last: page.last ?? found.end };
  };

  const scanPage = async (query: ListQuery, reader: Reader, yieldSlot: YieldSlot) => {
    const page = await scan(query, reader, yieldSlot).catch((error: unknown) => {
      if (error instanceof StatementTimeout) return 'exceeded' as const;
      throw error;
    });
    if (typeof page === 'object') return page;
    throw tooExpensive(scannedFor(query) ?? 'id', limits.scanRows);
  };

  return {
    async page(query, reader) {
      const { flow, signal } = reader;
      checkRead(query.access);
      if (query.limit === 0 || query.access.rights.read === 'none') return emptyPage;
      if (scannedFor(query) !== undefined) {
        return scans.run(
          flow,
          (yieldSlot) =>
            onCurrentSlots(refresh, query, (current) => scanPage(current, reader, yieldSlot)),
          { isQuick: listDrivers(query).length > 0, signal },
        );
      }
      const name = preparedName(query);
      const small = name && (await readPipelined(name, smallListStatement(query, limits)));
      if (small) return small;
      const read = async () => {
        const page = await readPage(database.query, query, reader);
        return typeof page === 'object' ? page : emptyPage;
      };
      return scans.run(flow, read, { isQuick: true, signal });
    },
  };
};

const parseCursorKey = (text: string): CursorKey => ({
  text: text.slice(1),
  isCut: text.startsWith('~'),
});

/** The few statements without a filter are prepared; equal names mean equal texts. */
const preparedName = (query: ListQuery): string | undefined => {
  const { filter, limit, offset, sort, after, access } = query;
  if (filter.bounds.length > 0 || limit > maxPipelinedLimit || offset > 0) return undefined;
  const { hidden } = access.fields;
  if (hidden.some(({ policy }) => policy !== 'none')) return undefined;
  const fields = hidden.length > 0 ? '_without_fields' : '';
  return `records_list_${sort.idDescending ? 'newest' : 'oldest'}${after ? '_after' : ''}${fields}`;
};
