import type { KeyObject } from 'node:crypto';
import { isUuid } from '@backlot/contract';
import { decodeCursor, encodeCursor } from '@backlot/http';
import { z } from 'zod';

/** A place in the log of a project: behind one entry, or before the first one of a transaction. */
export interface LogPosition {
  /** A number of 64 bits, without zeros before it. */
  xid: string;
  /** Microseconds since 1970; -1 before the first. */
  seq: number;
  recordId: string;
}

/** Who reads behind a cursor: another call of another project or about something else refuses it. */
export interface LogScope {
  projectNumber: number;
  /** What is read, such as names of collections and a filter. */
  reads: unknown;
}

const noRecord = '00000000-0000-0000-0000-000000000000';

export const beforeTransaction = (xid: string): LogPosition => ({
  xid,
  seq: -1,
  recordId: noRecord,
});

const positionSchema = z.tuple([
  z.string().regex(/^\d{1,20}$/),
  z.int(),
  z.string().refine(isUuid),
  z.int(),
  z.string().optional(),
]);

const signedScope = ({ projectNumber, reads }: LogScope, secrets: readonly KeyObject[]) => ({
  list: ['changes', projectNumber, reads],
  secrets,
  hint: 'Send the cursor to the same call with the same parameters, or begin anew with since=now.',
});

/**
 * @param atMs when it was reached: the log is kept for some days
 * @param mark what it is good for only while that is the same
 */
export const encodeLogPosition = (
  { xid, seq, recordId }: LogPosition,
  atMs: number,
  scope: LogScope,
  secrets: readonly KeyObject[],
  mark?: string,
): string =>
  encodeCursor(
    [xid, seq, recordId, atMs, ...(mark === undefined ? [] : [mark])],
    signedScope(scope, secrets),
  );

/** @throws ApiError invalid_cursor */
export const decodeLogPosition = (
  cursor: string,
  scope: LogScope,
  secrets: readonly KeyObject[],
): { position: LogPosition; atMs: number; mark?: string | undefined } => {
  const [xid, seq, recordId, atMs, mark] = decodeCursor(
    cursor,
    positionSchema,
    signedScope(scope, secrets),
  );
  return { position: { xid, seq, recordId }, atMs, mark };
};

/** Less than 0 where the first stands before the second. */
export const comparePositions = (a: LogPosition, b: LogPosition): number => {
  if (a.xid !== b.xid) {
    const difference = a.xid.length - b.xid.length;
    return difference !== 0 ? difference : a.xid < b.xid ? -1 : 1;
  }
  if (a.seq !== b.seq) return a.seq - b.seq;
  return a.recordId === b.recordId ? 0 : a.recordId < b.recordId ? -1 : 1;
};
