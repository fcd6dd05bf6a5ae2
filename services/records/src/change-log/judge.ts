import type { Access } from '../collections/access.ts';
import { admitsStored, type StoredRecord } from '../collections/terms/stored-record.ts';
import { joinJson } from '../record/written-record.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import type { Filter, Json } from '../where/filter.ts';
import { holds } from '../where/holds.ts';
import type { LogEntry, LoggedRecord } from './read-log.ts';

/** What somebody wants to hear of a collection, and may. */
export interface Watch {
  access: Access;
  /** As lists have it, without the group that it names. */
  filter: Filter;
  ownerId: string | undefined;
  groupId: string | undefined;
}

/** Who has a share of the records of entries, by `shareKey`, and up to which `seq`: `lasting` where it has not ended. */
export type KnownShares = ReadonlyMap<string, number>;
export const lasting = Number.POSITIVE_INFINITY;
export const shareKey = (collectionId: number, recordId: string, userId: string): string =>
  `${collectionId} ${recordId} ${userId}`;

/** What they are told of a change. */
export interface Told {
  type: 'create' | 'update' | 'delete' | 'leave';
  /** JSON of the record as they may see it now. */
  record?: string;
}

type Data = { readonly [name: string]: Json };

/** A document is read once, whoever is told of it. */
const documents = new WeakMap<LoggedRecord, Data>();

const readDocument = (record: LoggedRecord): Data => {
  const known = documents.get(record) ?? (JSON.parse(record.data) as Data);
  documents.set(record, known);
  return known;
};

/** What no document has: the name under which a filter finds a time as a text. */
const asText = (field: string) => `$${field}`;
const isTime = (field: string) => field === 'createdAt' || field === 'updatedAt';

/** Times are compared as numbers, and searched as texts. */
export const withTimesAsTexts = (filter: Filter): Filter => {
  if (filter.kind === 'not') return { ...filter, filter: withTimesAsTexts(filter.filter) };
  if (filter.kind !== 'test') return { ...filter, filters: filter.filters.map(withTimesAsTexts) };
  const { field, test } = filter;
  return isTime(field) && test.op === 'text' ? { ...filter, field: asText(field) } : filter;
};

const visibleFields = ({ fields: { hidden }, ...caller }: Access, record: StoredRecord): Data => {
  if (hidden.length === 0) return record.value;
  const isHidden = new Set(
    hidden
      .filter(({ field }) => Object.hasOwn(record.value, field))
      .filter(({ policy }) => !admitsStored(policy, caller, record))
      .map(({ field }) => field),
  );
  if (isHidden.size === 0) return record.value;
  return Object.fromEntries(Object.entries(record.value).filter(([name]) => !isHidden.has(name)));
};

/** Documents of which everything is seen, with what else a filter finds of the record. */
const whole = new WeakMap<Data, Data>();

const withOwnFields = (record: StoredRecord, visible: Data, updatedAt: number): Data => {
  const known = visible === record.value ? whole.get(visible) : undefined;
  if (known) return known;
  const createdAt = idTimeMs(record.id);
  const found = {
    ...visible,
    id: record.id,
    ownerId: record.ownerId,
    createdAt,
    updatedAt,
    [asText('createdAt')]: toIso(createdAt),
    [asText('updatedAt')]: toIso(updatedAt),
  };
  if (visible === record.value) whole.set(visible, found);
  return found;
};

/** What they see of the record; undefined where they may not, or it does not fit. */
const seen = (watch: Watch, record: StoredRecord, updatedAt: number): Data | undefined => {
  const { access, filter, ownerId, groupId } = watch;
  if (ownerId !== undefined && record.ownerId !== ownerId) return undefined;
  if (groupId !== undefined && record.groupId !== groupId) return undefined;
  if (!admitsStored(access.rights.read, access, record)) return undefined;
  const visible = visibleFields(access, record);
  return holds(filter, withOwnFields(record, visible, updatedAt)) ? visible : undefined;
};

/** As `recordJsonSql` has it. */
const toJson = (id: string, { ownerId, groupId, updatedAt, data }: LoggedRecord, shown?: Data) => {
  const own = {
    id,
    ownerId,
    ...(groupId !== null && { groupId }),
    createdAt: toIso(idTimeMs(id)),
    updatedAt: toIso(updatedAt),
  };
  return joinJson(JSON.stringify(own).slice(0, -1), shown ? JSON.stringify(shown) : data);
};

/**
 * What somebody is told of an entry: of the record as it is now, and where they see it no more but did before, that it
 * is gone. Undefined where it was and is nothing to them, so that they learn no id that they could not read.
 * @param shares of the records of entries whose collection's rules name `shared`
 */
export const judge = (watch: Watch, entry: LogEntry, shares: KnownShares): Told | undefined => {
  const { recordId: id, collectionId, before, now, position } = entry;
  const { userId } = watch.access;
  if (entry.kind === 'share' && !(userId && entry.sharedWith.includes(userId))) return undefined;
  const sharedUntil = (userId: string) => shares.get(shareKey(collectionId, id, userId)) ?? -1;
  const isShared = (userId: string) => sharedUntil(userId) === lasting;
  const wasShared = (userId: string) => sharedUntil(userId) >= position.seq;
  const look = (logged: LoggedRecord, isSharedWith: StoredRecord['isSharedWith']) => {
    const { ownerId, groupId, updatedAt } = logged;
    const value = readDocument(logged);
    return seen(watch, { id, ownerId, groupId, value, isSharedWith }, updatedAt);
  };
  const visible = now ? look(now, isShared) : undefined;
  if (now && visible) {
    const isWhole = visible === readDocument(now);
    const type = entry.kind === 'create' ? 'create' : 'update';
    return { type, record: toJson(id, now, isWhole ? undefined : visible) };
  }
  if (!before || !look(before, wasShared)) return undefined;
  return { type: now ? 'leave' : 'delete' };
};
