import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { z } from 'zod';

/** What a cursor belongs to: every other list refuses it. */
export interface CursorScope {
  /** Written as JSON. */
  list: unknown;
  /** Where a position that a client made up would do harm. */
  secret?: KeyObject;
  /** What the developer can do about a refused one. */
  hint?: string;
}

const checksumBytes = 16;

const checksum = (payload: string, { list, secret }: CursorScope): Buffer => {
  const hash = secret ? createHmac('sha256', secret) : createHash('sha256');
  return hash
    .update(JSON.stringify(['cursor', list, payload]))
    .digest()
    .subarray(0, checksumBytes);
};

export const encodeCursor = (position: unknown, scope: CursorScope): string => {
  const payload = JSON.stringify(position);
  return Buffer.concat([checksum(payload, scope), Buffer.from(payload)]).toString('base64url');
};

/** @throws ApiError invalid_cursor where `encodeCursor` did not make it for this scope */
export const decodeCursor = <T>(cursor: string, schema: z.ZodType<T>, scope: CursorScope): T => {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(checksumBytes).toString();
  const isGenuine =
    bytes.length > checksumBytes &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(0, checksumBytes), checksum(payload, scope));
  const position = isGenuine ? schema.safeParse(JSON.parse(payload)).data : undefined;
  if (position !== undefined) return position;
  throw new ApiError(
    'invalid_cursor',
    '"cursor": not a cursor of this list.',
    scope.hint === undefined ? {} : { hint: scope.hint },
  );
};
