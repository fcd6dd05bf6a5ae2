import { isUuid } from '@backlot/contract';
import type { KeptAnswer } from '@backlot/http';
import { keepAnswersSql } from '@backlot/service';
import { recordNotFound, type WriteAction, writePolicySql } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { visibleDataSql } from '../collections/field-rules.ts';
import { claimNewSql } from '../collections/stored/claims.ts';
import { keepWordsSql } from '../collections/stored/search-words.ts';
import { joinSides, type SideSql } from '../collections/stored/side-sql.ts';
import { isCurrentSql, slotValues } from '../collections/stored/slots.ts';
import { idHint } from '../query/hints.ts';
import {
  and,
  epochMsSql,
  inCollection,
  insertFromSql,
  nextVersionSql,
  type Parameters,
  startParameters,
  versionSql,
} from '../sql.ts';
import { sideGrowthSql } from './quota/side-bytes.ts';
import type { AcceptedVersions, RecordTarget } from './refusals.ts';
import { unsharedSql } from './share-rows.ts';

/** One record as the API writes it. */
export interface WrittenRecord {
  /** Its JSON. */
  pieces: readonly string[];
  /** Grows with every change: epoch milliseconds of `updatedAt`. */
  version: number;
}

/** Sends a prepared statement; its failure is the caller's ApiError where it is theirs. */
export type WriteRecords = <Row>(
  collection: Collection,
  text: string,
  parameters: Parameters,
) => Promise<Row[]>;

export const toIso = (ms: number) => new Date(ms).toISOString();

export const matchesId = `${inCollection} AND id = $3`;

/** @throws ApiError not_found for what is no id */
export const targetParameters = ({ collection, id }: RecordTarget): Parameters => {
  if (!isUuid(id)) throw recordNotFound(idHint(collection.name, id));
  return startParameters(collection, id);
};

/** Stores answers with the statement that creates their records. */
const keptAnswersSql = (kept: readonly KeptAnswer[], parameters: Parameters): string =>
  keepAnswersSql(kept, 'created', (values) => parameters.add(values, 'bytea[]'));

interface CreateOptions {
  groupId?: string | undefined;
  onConflict?: string | undefined;
  /** As the API writes it, where it is not the time of creation. */
  updatedAt?: string | undefined;
  /** The answer, where the statement stores it too. */
  kept?: KeptAnswer | undefined;
}

/** Writes nothing where the collection's slots or unique fields have changed. */
export const createSql = (
  collection: Collection,
  parameters: Parameters,
  { groupId, onConflict = '', updatedAt, kept }: CreateOptions = {},
): string => {
  const { slots, unique } = collection;
  const keys = slotValues(slots, '$6::jsonb', '$4::uuid', parameters);
  const sides = joinSides(
    claimNewSql(unique, 'created', parameters),
    keepWordsSql(collection, 'created', parameters),
  );
  const keptSql = keptAnswersSql(kept ? [kept] : [], parameters);
  // Where the client chooses the id, another record may have had it.
  const unshared = onConflict && unsharedSql('record_id = $3', 'created');
  const group = groupId === undefined ? '' : `, ${parameters.add(groupId, 'uuid')}`;
  const updated = updatedAt === undefined ? '$5' : parameters.add(updatedAt, 'timestamptz');
  return `WITH created AS (
    INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data${keys.columns}${group && ', group_id'})
    SELECT $1, $2, $3, $4, $5::timestamptz, ${updated}, $6::jsonb${keys.values}${group}
    WHERE ${isCurrentSql(collection, parameters)} ${onConflict} RETURNING id, size_bytes${sides.returned})${sides.tables}${unshared}${keptSql}
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, 1, size_bytes FROM created RETURNING bytes`;
};

/** A record to be created, which begins with its first version. */
export interface NewRecord {
  id: string;
  ownerId: string | null;
  /** As the API writes it. */
  createdAt: string;
  json: string;
  groupId?: string | undefined;
  /** The answer, where the statement stores it too. */
  kept?: KeptAnswer | undefined;
}

/** Several at once; unique values are not claimed. Writes nothing where the collection's slots have changed. */
export const createManySql = (
  collection: Collection,
  made: readonly NewRecord[],
): { text: string; parameters: Parameters } => {
  const parameters = startParameters(
    collection,
    made.map(({ id }) => id),
    made.map(({ ownerId }) => ownerId),
    made.map(({ createdAt }) => createdAt),
    made.map(({ json }) => json),
    made.map(({ groupId }) => groupId ?? null),
  );
  const keys = slotValues(collection.slots, 'data', 'owner_id', parameters);
  const words = keepWordsSql(collection, 'created', parameters);
  const kept = keptAnswersSql(
    made.flatMap(({ kept }) => kept ?? []),
    parameters,
  );
  const text = `WITH created AS (
    INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data, group_id${keys.columns})
    SELECT $1, $2, id, owner_id, created_at, created_at, data, group_id${keys.values}
    FROM unnest($3::uuid[], $4::uuid[], $5::timestamptz[], $6::jsonb[], $7::uuid[]) made(id, owner_id, created_at, data, group_id)
    WHERE ${isCurrentSql(collection, parameters)}
    RETURNING id, size_bytes${words.returned})${words.tables}${kept}
  INSERT INTO count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, count(*), sum(size_bytes) FROM created HAVING count(*) > 0 RETURNING d`;
  return { text, parameters };
};

/** Matches the row if this caller may change it and it has one of the versions. */
export const changeableRow = (
  { access }: RecordTarget,
  action: WriteAction,
  versions: AcceptedVersions,
  parameters: Parameters,
) =>
  and([
    matchesId,
    writePolicySql(access, action, parameters),
    versions && `updated_at = ANY (${parameters.add(versions.map(toIso), 'timestamptz[]')})`,
  ]);

/** What `where` matches, unless the record and what is kept beside it would grow by more than is left of the quota. */
export const withinRoom = (
  collection: Collection,
  where: string,
  data: string,
  roomBytes: number | undefined,
  parameters: Parameters,
  isChanged?: (firstLevel: string) => boolean,
): string => {
  if (roomBytes === undefined) return where;
  const sides = sideGrowthSql(collection, data, parameters, isChanged);
  const growth = [`octet_length((${data})::text) - size_bytes`, ...sides].join(' + ');
  return `${where} AND CASE WHEN ${where} THEN ${growth} <= ${parameters.add(roomBytes, 'int8')} ELSE false END`;
};

/**
 * A change together with what it counts, so that both are committed or neither is.
 * @param change returns `id` and `growth`, the bytes that it adds
 * @param answer columns, from what the change returns
 * @param tables that follow from the change too
 */
export const countedSql = (
  change: string,
  records: 0 | -1,
  answer: string,
  tables: string,
): string =>
  `WITH changed AS (${change}), counted AS (
     ${insertFromSql('count_delta', { d: String(records), bytes: 'growth' }, 'changed', 'growth <> 0')})${tables}
   SELECT ${answer} FROM changed records`;

export const updateSql = (
  data: string,
  keys: string,
  now: number,
  parameters: Parameters,
): string => {
  const time = parameters.add(toIso(now), 'timestamptz');
  return `UPDATE records SET data = ${data}${keys}, updated_at = ${nextVersionSql(time)}`;
};

/** What an UPDATE of records returns to `updatedColumns` and to what counts its growth. */
export const returnUpdated =
  'RETURNING records.id, owner_id, group_id, created_at, updated_at, data, new.size_bytes - old.size_bytes AS growth';

/** The columns of `UpdatedRow`. @param data the document as the caller may see it */
export const updatedColumns = (data: string): string =>
  `id, owner_id, group_id, ${epochMsSql('created_at')} AS created_ms, ${versionSql} AS version, (${data})::text AS data`;

export const updatedSql = (
  update: string,
  where: string,
  { access }: Pick<RecordTarget, 'access'>,
  sides: SideSql,
  parameters: Parameters,
): string =>
  countedSql(
    `${update} WHERE ${where}
     ${returnUpdated}${sides.returned}`,
    0,
    updatedColumns(visibleDataSql(access, parameters)),
    sides.tables,
  );

/** @param ownFields JSON without its closing brace, as `ownFieldsSql` has it */
export const joinJson = (ownFields: string, dataJson: string): string =>
  dataJson === '{}' ? `${ownFields}}` : `${ownFields},${dataJson.slice(1)}`;

/** Longer strings are large objects to V8. */
const maxJoinedLength = 128 * 1024;

/**
 * The document follows the record's own fields, as `recordJsonSql` has it. A large one stays a piece of its own:
 * joined, V8 would copy it to count its bytes, and once more behind the answer's head.
 */
export const recordPieces = (ownFields: object, dataJson: string): readonly string[] => {
  const start = JSON.stringify(ownFields).slice(0, -1);
  if (dataJson.length <= maxJoinedLength) return [joinJson(start, dataJson)];
  return [`${start},`, dataJson.slice(1)];
};

/** What `updatedSql` returns. */
export interface UpdatedRow {
  id: string;
  owner_id: string | null;
  group_id: string | null;
  created_ms: number;
  version: number;
  data: string;
}

/** Put together here, because PostgreSQL takes 75 of a patch's 310 µs for it. */
export const updatedRecord = (row: UpdatedRow): WrittenRecord => {
  const ownFields = {
    ...{ id: row.id, ownerId: row.owner_id, ...(row.group_id && { groupId: row.group_id }) },
    ...{ createdAt: toIso(row.created_ms), updatedAt: toIso(row.version) },
  };
  return { pieces: recordPieces(ownFields, row.data), version: row.version };
};
