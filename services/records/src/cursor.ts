import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { IdentitySecret } from '@backlot/identity';
import { z } from 'zod';
import type { Sort } from './sort.ts';
import type { Filter } from './where/filter.ts';

/**
 * A sort key as JSON text. A long one is cut: then the position is that of the record itself as long
 * as its key still begins like this, and else right behind all that begins like this.
 */
export interface CursorKey {
  text: string;
  isCut: boolean;
}

/** Where a page ended. */
export interface CursorPosition {
  keys: CursorKey[];
  id: string;
}

/** What a cursor belongs to; it opens nothing else. */
export interface CursorScope {
  projectNumber: number;
  collection: string;
  filter: Filter;
  sort: Sort;
  ownerId: string | undefined;
}

/** Longest sort key, in bytes of JSON, that a cursor carries whole. */
export const maxKeyBytes = 1024;

const macBytes = 16;
const content = z.tuple([z.array(z.tuple([z.string(), z.boolean()])), z.uuid()]);

const macOf = (payload: string, scope: CursorScope, secret: IdentitySecret): Buffer => {
  const { projectNumber, collection, filter, sort, ownerId } = scope;
  const bound = JSON.stringify([
    'cursor',
    projectNumber,
    collection,
    filter,
    sort,
    ownerId,
    payload,
  ]);
  return createHmac('sha256', secret).update(bound).digest().subarray(0, macBytes);
};

export const encodeCursor = (
  { keys, id }: CursorPosition,
  scope: CursorScope,
  secret: IdentitySecret,
): string => {
  const payload = JSON.stringify([keys.map(({ text, isCut }) => [text, isCut]), id]);
  return Buffer.concat([macOf(payload, scope, secret), Buffer.from(payload)]).toString('base64url');
};

/** @throws ApiError invalid_cursor where `encodeCursor` did not make it for this scope. */
export const decodeCursor = (
  cursor: string,
  scope: CursorScope,
  secret: IdentitySecret,
): CursorPosition => {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(macBytes).toString();
  const mac = bytes.subarray(0, macBytes);
  const isOurs =
    mac.length === macBytes &&
    timingSafeEqual(mac, macOf(payload, scope, secret)) &&
    bytes.toString('base64url') === cursor;
  if (!isOurs) {
    throw new ApiError('invalid_cursor', '"cursor": not one that this list has given out.', {
      hint: 'A cursor goes with the very "where", "sort" and "mine" of the call that answered it.',
    });
  }
  const [keys, id] = content.parse(JSON.parse(payload));
  return { keys: keys.map(([text, isCut]) => ({ text, isCut })), id };
};
