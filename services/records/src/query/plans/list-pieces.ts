import type { Filter } from '../../where/filter.ts';
import { type CursorKey, type CursorPosition, maxKeyBytes } from '../cursor.ts';
import type { ListQuery, ReadLimits } from '../list-statement.ts';
import { type FoundInPiece, findInPiece, type Kept, sortPiece } from '../piece-statement.ts';
import type { Gathering, Pieces, Plan } from '../plan.ts';

/** A page that was found; its documents are read apart where they are large. */
export interface FoundPage {
  items: string | null;
  ids: readonly string[];
  sizes: readonly number[];
  hasMore: boolean;
  /** Where the page ended; null where it shows nothing. */
  last: CursorPosition | null;
  /** By which large documents are read. */
  query: ListQuery;
}

const maxKeptBytes = 4 * 1024 * 1024;

/** Finds a page in pieces, then reads it by its ids and tests these once more: they may have changed meanwhile. */
export const listPieces = (
  query: ListQuery,
  limits: ReadLimits,
  planPage: (found: ListQuery) => Plan<FoundPage>,
): Pieces<FoundPage> => ({
  of: 'records',
  most: limits.scanRows,
  begin: () => {
    const gathering =
      query.sort.fields.length > 0 ? gatherBest(query) : gatherInOrder(query, limits);
    return {
      ...gathering,
      end(isWhole) {
        const kept = isWhole ? gathering.kept() : undefined;
        if (!kept) return 'exceeded';
        const { found, end } = toPage(query, kept, limits.pageBytes);
        const plan = planPage(found);
        return end ? endingAt(end, plan) : plan;
      },
    };
  },
});

/** A page that ends there, also where records that were found have gone by now. */
const endingAt = (end: CursorPosition, plan: Plan<FoundPage>): Plan<FoundPage> =>
  'pieces' in plan
    ? plan
    : {
        ...plan,
        read(row) {
          const page = plan.read(row);
          return typeof page === 'string'
            ? page
            : { ...page, hasMore: true, last: page.last ?? end };
        },
      };

interface KeptRecords extends Omit<Gathering<FoundPage>, 'end'> {
  /** Undefined where they are too much to be kept. */
  kept: () => Kept[] | undefined;
}

const gatherInOrder = (query: ListQuery, { pageBytes }: ReadLimits): KeptRecords => {
  const most = query.offset + query.limit + 1;
  const kept: Kept[] = [];
  return {
    kept: () => kept,
    statement: (piece) => findInPiece(query, piece, most - kept.length),
    add(row) {
      kept.push(...(row as FoundInPiece).kept);
      return kept.length === most || isCut(kept.slice(query.offset), pageBytes);
    },
  };
};

const gatherBest = (query: ListQuery): KeptRecords => {
  const most = query.offset + query.limit + 1;
  let kept: Kept[] = [];
  const isTooLarge = () => keyBytes(kept) > maxKeptBytes;
  return {
    kept: () => (isTooLarge() ? undefined : kept),
    statement: (piece) => sortPiece(query, piece, kept, most),
    add(row) {
      kept = (row as FoundInPiece).kept;
      return isTooLarge();
    },
  };
};

/** The query for the records of the page, and where it ends, where more may come behind it. */
const toPage = (
  query: ListQuery,
  kept: readonly Kept[],
  pageBytes: number,
): { found: ListQuery; end: CursorPosition | undefined } => {
  const { limit, filter } = query;
  const behindOffset = kept.slice(query.offset);
  const page = behindOffset.slice(0, fittingCount(behindOffset, pageBytes) + 1);
  const isFull = page.length > limit || isCut(behindOffset, pageBytes);
  const [id = '', , ...keys] = page.at(-1) ?? ['', 0];
  const end = { keys: keys.map((text): CursorKey => ({ text, isCut: false })), id };
  const ids = page.map(([id]) => id);
  const chosen: Filter = { kind: 'test', field: 'id', test: { op: 'in', values: ids } };
  const isSorted = query.sort.fields.length > 0;
  return {
    found: {
      ...query,
      offset: 0,
      until: isSorted && isFull ? end : undefined,
      filter: { ...filter, bounds: [...filter.bounds, chosen] },
    },
    end: isFull ? { keys: end.keys.map(cutKey), id } : undefined,
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
