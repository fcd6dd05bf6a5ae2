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

/** @param rows up to one more than `limit`, in the list's order. */
export const presentPage = <Row extends { created_at: Date; id: string }, T>(
  list: string,
  query: PageQuery,
  rows: readonly Row[],
  present: (row: Row) => T,
): Page<T> => {
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > query.limit;
  const next = last
    ? encodeCursor([last.created_at.getTime(), last.id], { list })
    : (query.cursor ?? null);
  return { items: shown.map(present), hasMore, nextCursor: hasMore ? next : null };
};
