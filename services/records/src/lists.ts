import { ApiError } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import { checkRead } from './access.ts';
import type { CursorKey, CursorPosition } from './cursor.ts';
import { type ListQuery, type ListStatement, listStatement } from './list-statement.ts';
import type { ReadLimits } from './read-limits.ts';
import type { ScanSlots } from './scan-slots.ts';

export interface ListPage {
  /** The records as a JSON array. */
  itemsJson: string;
  hasMore: boolean;
  /** Where the page ended; null where it shows nothing. */
  last: CursorPosition | null;
}

export interface Lists {
  /** @throws ApiError unauthenticated, query_too_expensive, overloaded */
  page(query: ListQuery): Promise<ListPage>;
}

export interface ListsDeps {
  database: Database;
  limits: ReadLimits;
  scanSlots: ScanSlots;
}

/** A page of this many records is quick enough for a connection that others wait on. */
const quickLimit = 100;

const emptyPage: ListPage = { itemsJson: '[]', hasMore: false, last: null };

interface Row {
  items: string;
  more: boolean;
  last_id: string | null;
  last_keys: string[];
  exceeded: boolean;
}

const tooExpensive = (field: string, scanRows: number) =>
  new ApiError(
    'query_too_expensive',
    `This list would look through more than ${scanRows} records for "${field}".`,
    {
      hint: 'Narrow it down, for example by "createdAt", or sort by "-createdAt" and page with "cursor".',
    },
  );

export const createLists = ({ database, limits, scanSlots }: ListsDeps): Lists => {
  const quickPage = async (name: string, { text, values }: ListStatement): Promise<ListPage> => {
    const [row = []] = await database.read(name, text, values);
    const [items, more, lastId] = row;
    return {
      itemsJson: items ?? '[]',
      hasMore: more === 't',
      last: lastId ? { keys: [], id: lastId } : null,
    };
  };

  const scannedPage = async ({ text, values, scannedFor }: ListStatement): Promise<ListPage> => {
    const expensive = () => tooExpensive(scannedFor ?? 'id', limits.scanRows);
    const [row] = await database.query<Row>(text, values).catch((error: unknown) => {
      throw error instanceof StatementTimeout && scannedFor !== undefined ? expensive() : error;
    });
    if (!row) return emptyPage;
    if (row.exceeded) throw expensive();
    return {
      itemsJson: row.items,
      hasMore: row.more,
      last: row.last_id === null ? null : { keys: row.last_keys.map(cursorKey), id: row.last_id },
    };
  };

  return {
    async page(query) {
      checkRead(query.access);
      if (query.limit === 0 || query.access.rights.read === 'none') return emptyPage;
      const statement = listStatement(query, limits);
      const name = quickName(query, statement);
      if (name !== undefined) return quickPage(name, statement);
      return scanSlots.run(query.collection.projectNumber, () => scannedPage(statement));
    },
  };
};

const cursorKey = (text: string): CursorKey => ({
  text: text.slice(1),
  isCut: text.startsWith('~'),
});

/** The few statements without a filter are prepared; equal names mean equal texts. */
const quickName = (query: ListQuery, { scannedFor }: ListStatement): string | undefined => {
  const { filter, limit, offset, sort, after } = query;
  const hasFilter = filter.kind !== 'and' || filter.filters.length > 0;
  if (scannedFor !== undefined || hasFilter || limit > quickLimit || offset > 0) return undefined;
  return `records_list_${sort.idDescending ? 'newest' : 'oldest'}${after ? '_after' : ''}`;
};
