import { ApiError } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import type { JsonParts } from '@backlot/http';
import { checkRead } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import type { Observations } from '../indexes/observations.ts';
import { driverSlots, listDrivers, wantedFields } from '../query/by-index/drivers.ts';
import { createExactWalks } from '../query/by-index/exact-walks.ts';
import { slotListStatement } from '../query/by-index/slot-statement.ts';
import type { CursorKey, CursorPosition } from '../query/cursor.ts';
import {
  type ListQuery,
  listStatement,
  maxPipelinedLimit,
  type ReadLimits,
  type Stretch,
  scannedFor,
  smallListText,
} from '../query/list-statement.ts';
import { createKeptStatements } from '../query/prepared/kept-statements.ts';
import {
  type SearchWords,
  tooManyFound,
  toSearchTerms,
  withBuiltSearch,
} from '../query/search-query.ts';
import { searchListStatement } from '../query/search-statement.ts';
import type { Reader } from '../reader.ts';
import { createQuickScans } from './quick-scans.ts';
import { createLargePages } from './shown/large-pages.ts';
import { createSlicedLists } from './slices/sliced-lists.ts';
import { type Slicing, usualSlicing } from './slices/slices.ts';

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
  /** For scans of kinds that were quick. */
  quickScans: FairShares;
  largeReads: FairShares;
  answers: FairShares;
  observations?: Observations;
  slicing?: Slicing;
}

/** What one statement by a slot looks through, at most. */
export const slotStretch: Stretch = { rows: 10_000, ms: 100 };

const isSmall = ({ limit, offset }: ListQuery) => limit <= maxPipelinedLimit && offset === 0;

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

const asExceeded = (error: unknown) => {
  if (error instanceof StatementTimeout) return 'exceeded' as const;
  throw error;
};

const tooExpensive = (field: string, scanRows: number) =>
  new ApiError(
    'query_too_expensive',
    `This list would read more than ${scanRows} records for "${field}", or look for longer than a second.`,
    {
      hint: 'Narrow it down, for example by "createdAt", or sort by "-createdAt" and page with "cursor".',
    },
  );

export const createLists = ({
  database,
  limits,
  refresh,
  scans,
  quickScans,
  largeReads,
  answers,
  observations,
  slicing = usualSlicing,
}: ListsDeps): Lists => {
  const prepare = createKeptStatements('records_list');
  const openLargePage = createLargePages({ database, largeReads, answers });
  const find = createSlicedLists({ database, limits, slicing });
  const findExactWalk = createExactWalks(limits);
  const { isQuick, learn } = createQuickScans();
  const stretch = { rows: slicing.firstRows, ms: slicing.sliceMs };

  /** Undefined where there is no such walk, or it does not lead to the whole page. */
  const readExactWalk = async (query: ListQuery): Promise<ListPage | undefined> => {
    const walk = isSmall(query) ? findExactWalk(query) : undefined;
    if (!walk) return undefined;
    const [row = []] = await database.read(walk.name, walk.text, walk.values);
    const [items, more, lastId, lastKey, epoch] = row;
    if (!items || Number(epoch) !== query.collection.epoch) return undefined;
    observations?.used(query.collection, walk.slot);
    const keys = lastKey ? [{ text: lastKey, isCut: false }] : [];
    return { items, hasMore: more === 't', last: lastId ? { keys, id: lastId } : null };
  };

  /** Undefined where the page is large, or there are too many such statements. */
  const readPipelined = async (query: ListQuery): Promise<ListPage | undefined> => {
    const { collection, sort, limit, after } = query;
    const { name, text, values } = prepare(
      query,
      `${sort.idDescending ? 'newest' : 'oldest'}${after ? ' after' : ''}`,
      [collection.projectNumber, collection.id, limit, ...(after ? [after.id] : [])],
      (anyone, parameters) => smallListText({ ...query, access: anyone }, limits, parameters),
    );
    if (name === '') return undefined;
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
      const page = await readPage(database.scan, query, reader, statement);
      if (typeof page === 'object') {
        for (const slot of driverSlots(driver)) observations?.used(query.collection, slot);
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
    const atOnce = await readPage(database.scan, query, reader, first).catch(asExceeded);
    const ms = performance.now() - startedAt;
    const isSlow = typeof atOnce === 'string';
    observations?.scanned(query, wantedFields(query, query.sort), { ms, isSlow });
    learn(query, isSlow ? Math.max(ms, slicing.sliceMs) : ms);
    if (atOnce !== 'unfinished') return atOnce;
    const found = await find(query, yieldSlot);
    if (!found) return 'exceeded';
    await yieldSlot();
    const page = await readPage(database.scan, found.query, reader);
    if (typeof page === 'string' || !found.end) return page;
    return { ...page, hasMore: true, last: page.last ?? found.end };
  };

  const scanPage = async (query: ListQuery, reader: Reader, yieldSlot: YieldSlot) => {
    const page = await scan(query, reader, yieldSlot).catch(asExceeded);
    if (typeof page === 'object') return page;
    throw tooExpensive(scannedFor(query) ?? 'id', limits.scanRows);
  };

  /** A page that the primary key answers. */
  const readByKey = async (query: ListQuery, reader: Reader): Promise<ListPage> => {
    const isShort = query.filter.bounds.length === 0 && isSmall(query);
    const small = isShort ? await readPipelined(query) : undefined;
    if (small) return small;
    const read = async () => {
      const page = await readPage(database.query, query, reader);
      return typeof page === 'object' ? page : emptyPage;
    };
    return scans.run(reader.flow, read, { isQuick: true, signal: reader.signal });
  };

  const searchPage = async (
    query: ListQuery,
    words: SearchWords,
    reader: Reader,
  ): Promise<ListPage> => {
    const terms = toSearchTerms(query.collection, query.access, words);
    const statement = searchListStatement(query, terms, limits);
    const page = await readPage(database.scan, query, reader, statement).catch(asExceeded);
    if (typeof page === 'object') return page;
    throw tooManyFound();
  };

  return {
    async page(query, reader) {
      checkRead(query.access);
      if (query.limit === 0 || query.access.rights.read === 'none') return emptyPage;
      const { search } = query;
      if (search) {
        const current = await withBuiltSearch(refresh, query);
        const { flow, signal } = reader;
        return scans.run(flow, () => searchPage(current, search, reader), { signal });
      }
      if (scannedFor(query) === undefined) return readByKey(query, reader);
      const found = await readExactWalk(query);
      if (found) return found;
      const hasDriver = listDrivers(query).length > 0;
      const shares = !hasDriver && isQuick(query) ? quickScans : scans;
      return shares.run(
        reader.flow,
        (yieldSlot) =>
          onCurrentSlots(refresh, query, (current) => scanPage(current, reader, yieldSlot)),
        { isQuick: hasDriver, signal: reader.signal },
      );
    },
  };
};

const parseCursorKey = (text: string): CursorKey => ({
  text: text.slice(1),
  isCut: text.startsWith('~'),
});
