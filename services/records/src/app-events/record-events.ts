import { createHash } from 'node:crypto';
import { type AppEvent, maxEventDataBytes, type RecordEventType } from '@backlot/contract';
import type { LogEntry, LoggedRecord } from '../change-log/read-log.ts';
import { platformSource } from '../source.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import type { Filter, Json } from '../where/filter.ts';
import { holds } from '../where/holds.ts';

/** What one webhook wants, with its filter read. */
export interface Want {
  webhook: string;
  types: readonly RecordEventType[];
  /** Null: every one. */
  collection: string | null;
  filter: Filter | null;
  /** Epoch milliseconds. */
  sinceMs: number;
}

const types = {
  create: 'record.created',
  update: 'record.updated',
  delete: 'record.deleted',
  share: undefined,
} as const;

export type RecordEvent = Omit<AppEvent, 'number'>;

type Place = Pick<LogEntry, 'position' | 'recordId'> & { projectNumber: number };

/** The same for the same entry, whoever reads it again: a UUID of version 8. */
const eventId = ({ projectNumber, position, recordId }: Place): string => {
  const name = `${projectNumber}/${position.xid}/${position.seq}/${recordId}`;
  const hash = createHash('sha256').update(`app event ${name}`).digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const ownFields = (recordId: string, { ownerId, groupId }: LoggedRecord) => ({
  id: recordId,
  ownerId,
  ...(groupId !== null && { groupId }),
});

const isSmall = ({ data }: LoggedRecord) => Buffer.byteLength(data) <= maxEventDataBytes;

/** As its owner gets it. */
const present = (recordId: string, record: LoggedRecord, data: object) => {
  const times = { createdAt: toIso(idTimeMs(recordId)), updatedAt: toIso(record.updatedAt) };
  return { ...ownFields(recordId, record), ...times, ...data };
};

const passes = (filter: Filter | null, recordId: string, record: LoggedRecord, data: object) =>
  filter === null ||
  holds(filter, {
    ...data,
    ...ownFields(recordId, record),
    createdAt: idTimeMs(recordId),
    updatedAt: record.updatedAt,
  } as Json);

/** Those that want it, whatever the record is. */
export const wantsFor = (
  { kind, changedAt }: LogEntry,
  collection: string,
  wants: readonly Want[],
): Want[] =>
  wants.filter(
    (want) =>
      want.types.some((type) => type === types[kind]) &&
      (want.collection === null || want.collection === collection) &&
      changedAt >= want.sinceMs,
  );

/**
 * What is told of an entry of the log, and which webhooks want it; undefined where none does.
 * @param record as it was after the change, or before a deletion; null where that is not known any more
 */
export const recordEvent = (
  projectNumber: number,
  entry: LogEntry,
  { collection, record }: { collection: string; record: LoggedRecord | null },
  wants: readonly Want[],
): RecordEvent | undefined => {
  const type = types[entry.kind];
  const { recordId, changedAt } = entry;
  const wanting = wantsFor(entry, collection, wants);
  if (type === undefined || wanting.length === 0) return undefined;
  const data = record && (JSON.parse(record.data) as object);
  const webhooks = wanting
    .filter(({ filter }) =>
      record && data ? passes(filter, recordId, record, data) : filter === null,
    )
    .map(({ webhook }) => webhook);
  if (webhooks.length === 0) return undefined;
  // What goes with an account is not to be shown any more.
  const isErased = entry.kind === 'delete' && entry.actor === platformSource.actor;
  const isShown = record && data && !isErased && isSmall(record);
  return {
    id: eventId({ projectNumber, ...entry }),
    projectNumber,
    type,
    orderKey: `${collection}/${recordId}`,
    collection,
    webhooks: [...new Set(webhooks)],
    userId: isErased ? null : (record?.ownerId ?? null),
    data: {
      collection,
      id: recordId,
      ...(isShown && { record: present(recordId, record, data) }),
    },
    occurredAt: toIso(changedAt),
  };
};
