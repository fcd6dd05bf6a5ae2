import type { KeyObject } from 'node:crypto';
import { isUuid } from '@backlot/contract';
import { decodeCursor, encodeCursor } from '@backlot/http';
import { z } from 'zod';
import type { Filter } from '../where/filter.ts';
import type { Sort } from './sort.ts';

/**
 * A sort key as JSON text. A long one is cut: the position is then the record's own while its key still
 * starts with this text, and otherwise right after all keys that start with it.
 */
export interface CursorKey {
  text: string;
  isCut: boolean;
}

export interface CursorPosition {
  keys: CursorKey[];
  id: string;
}

/** The list that a cursor belongs to; every other list refuses it. */
export interface CursorScope {
  projectNumber: number;
  collection: string;
  filter: Filter;
  sort: Sort;
  ownerId: string | undefined;
  groupId?: string | undefined;
  search?: string | undefined;
}

/**
 * Longest sort key, in bytes of JSON, that a cursor holds whole: three of quotes alone, each escaped once more, are
 * no longer in base64 than the query parameter may be.
 */
export const maxKeyBytes = 1000;

const positionSchema = z.tuple([
  z.array(z.tuple([z.string(), z.boolean()])),
  z.string().refine(isUuid),
]);

/** Signed: a client's sort keys would go into a statement. */
const signedScope = (scope: CursorScope, secrets: readonly KeyObject[]) => {
  const { projectNumber, collection, filter, sort, ownerId, groupId, search } = scope;
  const words = search === undefined ? [] : [search];
  return {
    list: [projectNumber, collection, filter, sort, ownerId, groupId, ...words],
    secrets,
    hint: 'Send the same "where", "search", "sort", "mine" and "group" as in the call that returned the cursor.',
  };
};

export const encodePosition = (
  { keys, id }: CursorPosition,
  scope: CursorScope,
  secrets: readonly KeyObject[],
): string =>
  encodeCursor([keys.map(({ text, isCut }) => [text, isCut]), id], signedScope(scope, secrets));

/** @throws ApiError invalid_cursor where `encodePosition` did not make it for this scope. */
export const decodePosition = (
  cursor: string,
  scope: CursorScope,
  secrets: readonly KeyObject[],
): CursorPosition => {
  const [keys, id] = decodeCursor(cursor, positionSchema, signedScope(scope, secrets));
  return { keys: keys.map(([text, isCut]) => ({ text, isCut })), id };
};
