import { ApiError } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, Flow } from '@backlot/fair-shares';
import { checkRead } from '../collections/access.ts';
import type { CursorKey, CursorPosition } from './cursor.ts';
import {
  type ListQuery,
  type ListStatement,
  listStatement,
  type ReadLimits,
  smallListStatement,
} from './list-statement.ts';
import { scannedField } from './selection.ts';

export interface ListPage {
  /** The records as a JSON array. */
  itemsJson: string;
  hasMore: boolean;
  /** Where the page ended; null where it shows nothing. */
  last: CursorPosition | null;
}

export interface Lists {
  /** @throws ApiError unauthenticated, query_too_expensive; FairShareFull */
  page(query: ListQuery, reader: Reader): Promise<ListPage>;
}

/** For whom something is read. */
export interface Reader {
  flow: Flow;
  /** Aborted when they have gone. */
  signal?: AbortSignal | undefined;
}

export interface ListsDeps {
  database: Database;
  limits: ReadLimits;
  scans: FairShares;
}

/** Pages up to this size are fast enough for the pipelined connection, where others wait behind them. */
const maxPipelinedLimit = 100;

const emptyPage: ListPage = { itemsJson: '[]', hasMore: false, last: null };

interface PageRow {
  items: string;
  more: boolean;
  last_id: string | null;
  last_keys: string[];
  exceeded: boolean;
}

const tooExpensive = (field: string, scanRows: number) =>
  new ApiError(
    'query_too_expensive',
    `This list would read more than ${scanRows} records for "${field}".`,
    {
      hint: 'Narrow it down, for example by "createdAt", or sort by "-createdAt" and page with "cursor".',
    },
  );

export const createLists = ({ database, limits, scans }: ListsDeps): Lists => {
  /** Undefined where the page is large. */
  const readPipelined = async (
    name: string,
    { text, values }: ListStatement,
  ): Promise<ListPage | undefined> => {
    const [row = []] = await database.read(name, text, values);
    const [items, more, lastId] = row;
    if (items === undefined || items === null) return undefined;
    return {
      itemsJson: items,
      hasMore: more === 't',
      last: lastId ? { keys: [], id: lastId } : null,
    };
  };

  const readUnnamed = async ({ text, values, scannedFor }: ListStatement): Promise<ListPage> => {
    const scanTooLarge = () => tooExpensive(scannedFor ?? 'id', limits.scanRows);
    const read = scannedFor === undefined ? database.query : database.scan;
    const [row] = await read<PageRow>(text, values).catch((error: unknown) => {
      throw error instanceof StatementTimeout && scannedFor !== undefined ? scanTooLarge() : error;
    });
    if (!row) return emptyPage;
    if (row.exceeded) throw scanTooLarge();
    return {
      itemsJson: row.items,
      hasMore: row.more,
      last:
        row.last_id === null ? null : { keys: row.last_keys.map(parseCursorKey), id: row.last_id },
    };
  };

  return {
    async page(query, { flow, signal }) {
      checkRead(query.access);
      if (query.limit === 0 || query.access.rights.read === 'none') return emptyPage;
      const name = preparedName(query);
      const small = name && (await readPipelined(name, smallListStatement(query, limits)));
      if (small) return small;
      const statement = listStatement(query, limits);
      const isQuick = statement.scannedFor === undefined;
      return scans.run(flow, () => readUnnamed(statement), { isQuick, signal });
    },
  };
};

const parseCursorKey = (text: string): CursorKey => ({
  text: text.slice(1),
  isCut: text.startsWith('~'),
});

/** The few statements without a filter are prepared; equal names mean equal texts. */
const preparedName = (query: ListQuery): string | undefined => {
  const { filter, limit, offset, sort, after } = query;
  const isScan = sort.fields.length > 0 || scannedField(query) !== undefined;
  if (isScan || filter.bounds.length > 0 || limit > maxPipelinedLimit || offset > 0)
    return undefined;
  return `records_list_${sort.idDescending ? 'newest' : 'oldest'}${after ? '_after' : ''}`;
};
