import { isUuid } from '@backlot/contract';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from './cursor.ts';

/** Where a page of a list ended that goes from newest to oldest, ties broken by id. */
export interface Position {
  createdAt: Date;
  id: string;
}

export interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  hasMore: boolean;
  nextCursor: string | null;
}

const latestMs = Date.UTC(9999, 11, 31);

/**
 * @param list names the list, so that one list's cursor opens no other
 * @param isId what ids of the list look like; uuids unless stated
 * @throws ApiError invalid_cursor where `presentPage` did not make it for this list
 */
export const readPosition = (
  list: string,
  cursor: string | undefined,
  isId: (id: string) => boolean = isUuid,
): Position | undefined => {
  if (cursor === undefined) return undefined;
  const position = z.tuple([z.int().min(0).max(latestMs), z.string().refine(isId)]);
  const [createdAtMs, id] = decodeCursor(cursor, position, { list });
  return { createdAt: new Date(createdAtMs), id };
};

interface Listed {
  created_at: Date;
  id: string;
}

/** @param rows up to one more than `limit`, in the list's order. */
export const presentPage = <Row extends Listed, T>(
  list: string,
  query: PageQuery,
  rows: readonly Row[],
  present: (row: Row) => T,
): Page<T> => {
  const shown = rows.slice(0, query.limit);
  return toPage(list, query, shown.at(-1), shown.map(present), rows.length > query.limit);
};

const toPage = <T>(
  list: string,
  query: PageQuery,
  last: Listed | undefined,
  items: T[],
  hasMore: boolean,
): Page<T> => {
  const next = last
    ? encodeCursor([last.created_at.getTime(), last.id], { list })
    : (query.cursor ?? null);
  return { items, hasMore, nextCursor: hasMore ? next : null };
};

/** Of the JSON of a page of large items: it ends with the one that reaches this. */
const pageBytes = 1024 * 1024;
const rowsAtOnce = 25;

/**
 * A page of a list whose items may have some 100 KB: all 1,000 at once would be too much to hold and to write. They
 * are read 25 at a time, and the page is shorter than its limit where they reach 1 MiB.
 * @param read up to so many rows behind the position, in the list's order
 * @param isId as {@link readPosition} has it
 * @throws ApiError invalid_cursor
 */
export const readPage = async <Row extends Listed, T>(
  list: string,
  query: PageQuery,
  read: (after: Position | undefined, count: number) => Promise<readonly Row[]>,
  present: (row: Row) => T,
  isId?: (id: string) => boolean,
): Promise<Page<T>> => {
  let after = readPosition(list, query.cursor, isId);
  let last: Row | undefined;
  const items: T[] = [];
  let bytes = 0;
  for (;;) {
    const wanted = Math.min(rowsAtOnce, query.limit - items.length);
    const rows = await read(after, wanted + 1);
    for (const [index, row] of rows.entries()) {
      if (index === wanted || bytes >= pageBytes) break;
      const item = present(row);
      bytes += Buffer.byteLength(JSON.stringify(item));
      items.push(item);
      last = row;
    }
    const isOver = rows.at(-1) === last || rows.length === 0;
    if (isOver || items.length === query.limit || bytes >= pageBytes)
      return toPage(list, query, last, items, !isOver);
    after = last && { createdAt: last.created_at, id: last.id };
  }
};
