import { ApiError } from '@backlot/contract';
import { z } from 'zod';

/** Where a page ended; lists go from newest to oldest, ties broken by id. */
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

type ListName = 'projects' | 'keys';

const latestMs = Date.UTC(9999, 11, 31);
const position = z.tuple([
  z.enum(['projects', 'keys']),
  z.number().int().min(0).max(latestMs),
  z.string().regex(/^[a-z0-9-]{1,64}$/),
]);

const encode = (list: ListName, { createdAt, id }: Position) =>
  Buffer.from(JSON.stringify([list, createdAt.getTime(), id])).toString('base64url');

/** @throws ApiError invalid_cursor where it was not made by `pageOf` for this list. */
export const positionOf = (list: ListName, cursor: string | undefined): Position | undefined => {
  if (cursor === undefined) return undefined;
  try {
    const [made, createdAtMs, id] = position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    const found = { createdAt: new Date(createdAtMs), id };
    if (made === list && encode(list, found) === cursor) return found;
  } catch (cause) {
    throw new ApiError('invalid_cursor', '"cursor": not one that this list has given out.', { cause });
  }
  throw new ApiError('invalid_cursor', '"cursor": not one that this list has given out.');
};

/** @param rows up to one more than `limit`. */
export const pageOf = <Row extends { created_at: Date; id: string }, T>(
  list: ListName,
  query: PageQuery,
  rows: readonly Row[],
  present: (row: Row) => T,
): Page<T> => {
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > query.limit;
  const next = last ? encode(list, { createdAt: last.created_at, id: last.id }) : (query.cursor ?? null);
  return { items: shown.map(present), hasMore, nextCursor: hasMore ? next : null };
};
