import { ApiError } from '@backlot/contract';
import { z } from 'zod';

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
const position = z.tuple([
  z.string(),
  z.number().int().min(0).max(latestMs),
  z.string().regex(/^[a-z0-9-]{1,64}$/),
]);

const encode = (list: string, { createdAt, id }: Position) =>
  Buffer.from(JSON.stringify([list, createdAt.getTime(), id])).toString('base64url');

const decode = (cursor: string) => {
  try {
    return position.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
};

/**
 * @param list names the list, so that one list's cursor opens no other
 * @throws ApiError invalid_cursor where `pageOf` did not make it for this list
 */
export const positionOf = (list: string, cursor: string | undefined): Position | undefined => {
  if (cursor === undefined) return undefined;
  const [made, createdAtMs, id] = decode(cursor) ?? [];
  if (made === list && createdAtMs !== undefined && id !== undefined) {
    const found = { createdAt: new Date(createdAtMs), id };
    if (encode(list, found) === cursor) return found;
  }
  throw new ApiError('invalid_cursor', '"cursor": not one that this list has given out.');
};

/** @param rows up to one more than `limit`, in the list's order. */
export const pageOf = <Row extends { created_at: Date; id: string }, T>(
  list: string,
  query: PageQuery,
  rows: readonly Row[],
  present: (row: Row) => T,
): Page<T> => {
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > query.limit;
  const next = last
    ? encode(list, { createdAt: last.created_at, id: last.id })
    : (query.cursor ?? null);
  return { items: shown.map(present), hasMore, nextCursor: hasMore ? next : null };
};
