import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { z } from 'zod';

/** What a cursor belongs to: every other list refuses it. */
export interface CursorScope {
  /** Written as JSON. */
  list: unknown;
  /** Where a position that a client made up would do harm: the first one signs, all are accepted. */
  secrets?: readonly KeyObject[];
  /** What the developer can do about a refused one. */
  hint?: string;
}

const checksumBytes = 16;

/** One for each secret. */
const checksums = (payload: string, { list, secrets = [] }: CursorScope): Buffer[] => {
  const text = JSON.stringify(['cursor', list, payload]);
  const hashes = secrets.map((secret) => createHmac('sha256', secret));
  return (hashes.length > 0 ? hashes : [createHash('sha256')]).map((hash) =>
    hash.update(text).digest().subarray(0, checksumBytes),
  );
};

export const encodeCursor = (position: unknown, scope: CursorScope): string => {
  const payload = JSON.stringify(position);
  return Buffer.concat([...checksums(payload, scope).slice(0, 1), Buffer.from(payload)]).toString(
    'base64url',
  );
};

/** Whoever knows the list can make a checksum without secrets. */
const parsePayload = (payload: string): unknown => {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
};

/** @throws ApiError invalid_cursor where `encodeCursor` did not make it for this scope */
export const decodeCursor = <T>(cursor: string, schema: z.ZodType<T>, scope: CursorScope): T => {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(checksumBytes).toString();
  const isGenuine =
    bytes.length > checksumBytes &&
    bytes.toString('base64url') === cursor &&
    checksums(payload, scope).some((sum) => timingSafeEqual(bytes.subarray(0, checksumBytes), sum));
  const position = isGenuine ? schema.safeParse(parsePayload(payload)).data : undefined;
  if (position !== undefined) return position;
  throw new ApiError(
    'invalid_cursor',
    '"cursor": not a cursor of this list.',
    scope.hint === undefined ? {} : { hint: scope.hint },
  );
};
