import { toIso } from '../timestamps.ts';
import type { ChangedRow } from './change/change-sql.ts';

export interface WrittenRecord {
  pieces: readonly string[];
  /** Grows with every change: epoch milliseconds of `updatedAt`. */
  version: number;
}

/** @param ownFields JSON without its closing brace, as `ownFieldsSql` has it */
export const joinJson = (ownFields: string, dataJson: string): string =>
  dataJson === '{}' ? `${ownFields}}` : `${ownFields},${dataJson.slice(1)}`;

/** Longer strings are large objects to V8. */
const maxJoinedLength = 128 * 1024;

/** As `recordJsonSql` has it. A large document stays a piece of its own: joined, V8 would copy it twice. */
export const recordPieces = (ownFields: object, dataJson: string): readonly string[] => {
  const start = JSON.stringify(ownFields).slice(0, -1);
  if (dataJson.length <= maxJoinedLength) return [joinJson(start, dataJson)];
  return [`${start},`, dataJson.slice(1)];
};

/** Put together here: for PostgreSQL it would be much of a patch's work. */
export const changedRecord = (row: ChangedRow): WrittenRecord => {
  const ownFields = {
    id: row.id,
    ownerId: row.owner_id,
    ...(row.group_id && { groupId: row.group_id }),
    createdAt: toIso(row.created_ms),
    updatedAt: toIso(row.version),
  };
  return { pieces: recordPieces(ownFields, row.data), version: row.version };
};
