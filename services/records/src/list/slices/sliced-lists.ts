import type { Database } from '@backlot/database';
import type { YieldSlot } from '@backlot/fair-shares';
import { type CursorKey, type CursorPosition, maxKeyBytes } from '../../query/cursor.ts';
import type { ListQuery, ReadLimits } from '../../query/list-statement.ts';
import { findSlice, type Kept, type Slice, sortSlice } from '../../query/slice-statement.ts';
import type { Filter } from '../../where/filter.ts';
import { type SliceEnd, type Slicing, walkInSlices } from './slices.ts';

/** What a scan in pieces has found for a page, before it is read. */
export interface Found {
  query: ListQuery;
  /** Where it ends, where more may come behind it. */
  end: CursorPosition | undefined;
}

export interface SlicedListsDeps {
  database: Database;
  limits: ReadLimits;
  slicing: Slicing;
}

/** Of the sort keys that a scan keeps between its pieces. */
const maxKeptBytes = 4 * 1024 * 1024;

type Piece = SliceEnd & { kept: Kept[] };

/**
 * Finds a page in pieces. The query that comes back asks for its records by id and tests them once more,
 * because they may have changed meanwhile. Undefined where the scan may not take as long as it would.
 */
export const createSlicedLists = ({ database, limits, slicing }: SlicedListsDeps) => {
  const { scanRows, pageBytes } = limits;

  /** Ends as soon as the page is full. */
  const findInOrder = async (query: ListQuery, yieldSlot: YieldSlot) => {
    const most = query.offset + query.limit + 1;
    const kept: Kept[] = [];
    const look = async (slice: Slice): Promise<SliceEnd> => {
      const { text, values } = findSlice(query, slice, most - kept.length);
      const [piece] = await database.scan<Piece>(text, values);
      if (!piece) return { next: null, looked: 0 };
      kept.push(...piece.kept);
      const isEnough = kept.length === most || isCut(kept.slice(query.offset), pageBytes);
      return { next: piece.next, looked: piece.looked, isEnough };
    };
    return (await walkInSlices(look, scanRows, slicing, yieldSlot)) ? kept : undefined;
  };

  const findBest = async (query: ListQuery, yieldSlot: YieldSlot) => {
    const most = query.offset + query.limit + 1;
    let kept: Kept[] = [];
    let isTooLarge = false;
    const look = async (slice: Slice): Promise<SliceEnd> => {
      const { text, values } = sortSlice(query, slice, kept, most);
      const [piece] = await database.scan<Piece>(text, values);
      if (!piece) return { next: null, looked: 0 };
      kept = piece.kept;
      isTooLarge = keyBytes(kept) > maxKeptBytes;
      return { next: piece.next, looked: piece.looked, isEnough: isTooLarge };
    };
    const isWhole = await walkInSlices(look, scanRows, slicing, yieldSlot);
    return isWhole && !isTooLarge ? kept : undefined;
  };

  return async (query: ListQuery, yieldSlot: YieldSlot): Promise<Found | undefined> => {
    const isSorted = query.sort.fields.length > 0;
    const kept = await (isSorted ? findBest : findInOrder)(query, yieldSlot);
    if (!kept) return undefined;
    const { limit, filter } = query;
    const behindOffset = kept.slice(query.offset);
    const page = behindOffset.slice(0, fittingCount(behindOffset, pageBytes) + 1);
    const isFull = page.length > limit || isCut(behindOffset, pageBytes);
    const [id = '', , ...keys] = page.at(-1) ?? ['', 0];
    const end = { keys: keys.map((text): CursorKey => ({ text, isCut: false })), id };
    const ids = page.map(([id]) => id);
    const chosen: Filter = { kind: 'test', field: 'id', test: { op: 'in', values: ids } };
    return {
      query: {
        ...{ ...query, offset: 0, until: isSorted && isFull ? end : undefined },
        filter: { ...filter, bounds: [...filter.bounds, chosen] },
      },
      end: isFull ? { keys: end.keys.map(cutKey), id } : undefined,
    };
  };
};

/** How many records fit into a page by their size; a single one always does. */
const fittingCount = (kept: readonly Kept[], pageBytes: number): number => {
  let bytes = 0;
  const tooLarge = kept.findIndex(([, sizeBytes], i) => {
    bytes += sizeBytes;
    return i > 0 && bytes > pageBytes;
  });
  return tooLarge === -1 ? kept.length : tooLarge;
};

const isCut = (kept: readonly Kept[], pageBytes: number): boolean =>
  fittingCount(kept, pageBytes) < kept.length;

const keyBytes = (kept: readonly Kept[]): number =>
  kept.reduce(
    (sum, [, , ...keys]) => keys.reduce((bytes, key) => bytes + Buffer.byteLength(key), sum),
    0,
  );

/** As `slot_key` cuts it in the database. */
const cutKey = (key: CursorKey): CursorKey => {
  if (Buffer.byteLength(key.text) <= maxKeyBytes) return key;
  const value: unknown = JSON.parse(key.text);
  if (typeof value !== 'string') return key;
  return { text: JSON.stringify([...value].slice(0, 128).join('')), isCut: true };
};
