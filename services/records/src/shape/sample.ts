import { type Database, StatementTimeout } from '@backlot/database';
import type { YieldSlot } from '@backlot/fair-shares';
import type { Access } from '../collections/access.ts';
import { visibleRecordsSql } from '../collections/field-rules.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import { deadlineSql, isInTime } from '../query/list-statement.ts';
import { type CollectionKey, inCollection, type Parameters, startParameters } from '../sql.ts';
import { randomIds } from './random-ids.ts';

/** Whose sample it is: of the records and fields that they may read. */
export interface Sampled {
  collection: CollectionKey;
  access: Access;
}

/** Of each half of a sample. */
export interface SampleBounds {
  records: number;
  /** So that large documents cost no more than many; the first is always read. */
  bytes: number;
}

export const shapeBounds: SampleBounds = { records: 500, bytes: 1024 * 1024 };

/** Newest records that are looked at for those which the caller may read. */
const mostLookedAt = 4000;
/** Where fields are hidden, a record's size is known only once it was read. */
const sizingMs = 50;

export type Document = Readonly<Record<string, unknown>>;

/**
 * @param found a query of `id` and `place`, from 1 on
 * @returns a statement that answers the documents, as far as the bounds allow
 */
const readSql = (
  found: string,
  sampled: Sampled,
  { bytes }: SampleBounds,
  parameters: Parameters,
): string => {
  // Each by its id: joined, the planner may read the whole collection.
  const ofRow = (columns: string, row: string) => `CROSS JOIN LATERAL (
      SELECT ${columns} FROM ${visibleRecordsSql(sampled, parameters)}
       WHERE ${inCollection} AND records.id = ${row}.id LIMIT 1) records`;
  const isSized = sampled.access.fields.hidden.length === 0;
  const start = isSized ? 'WITH' : `WITH ${deadlineSql(parameters.add(sizingMs, 'int'))},`;
  const size = isSized ? 'size_bytes' : `CASE WHEN place = 1 OR ${isInTime} THEN size_bytes END`;
  return `${start} found AS MATERIALIZED (${found}),
    sized AS MATERIALIZED (
      SELECT found.id, place, size_bytes FROM found ${ofRow(`${size} AS size_bytes`, 'found')}),
    kept AS MATERIALIZED (
      SELECT id, place FROM (SELECT *, sum(size_bytes) OVER (ORDER BY place) AS bytes FROM sized) sized
      WHERE size_bytes IS NOT NULL AND (bytes <= ${parameters.add(bytes, 'int8')} OR place = 1))
    SELECT kept.id::text, data FROM kept ${ofRow('data::text', 'kept')} ORDER BY place`;
};

/** What rules may ask of a record. */
const askedColumns = 'records.id, owner_id, group_id, data';

const newestSql = (sampled: Sampled, bounds: SampleBounds, parameters: Parameters): string => {
  const { access } = sampled;
  const limit = parameters.add(bounds.records, 'int');
  const policy = rowPolicySql(access.rights.read, access, parameters);
  const newest = (rows: string) =>
    `SELECT ${askedColumns} FROM records WHERE ${inCollection} ORDER BY id DESC LIMIT ${rows}`;
  const readable =
    policy === undefined
      ? newest(limit)
      : `SELECT id FROM (${newest(parameters.add(mostLookedAt, 'int'))}) records WHERE ${policy}
         ORDER BY id DESC LIMIT ${limit}`;
  const found = `SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM (${readable}) newest`;
  return readSql(found, sampled, bounds, parameters);
};

/** For each of the ids that were made up, the record that follows it in the primary key. */
const randomSql = (
  sampled: Sampled,
  bounds: SampleBounds,
  { ids, end }: { ids: readonly string[]; end: string },
  parameters: Parameters,
): string => {
  const { access } = sampled;
  const probes = parameters.add(ids, 'uuid[]');
  const policy = rowPolicySql(access.rights.read, access, parameters) ?? 'true';
  const hits = `SELECT DISTINCT ON (records.id) records.id, probe.place
    FROM unnest(${probes}) WITH ORDINALITY AS probe (from_id, place)
    CROSS JOIN LATERAL (
      SELECT ${askedColumns} FROM records
      WHERE ${inCollection} AND records.id >= probe.from_id AND records.id < ${parameters.add(end, 'uuid')}
      ORDER BY records.id LIMIT 1) records
    WHERE ${policy} ORDER BY records.id, probe.place`;
  const found = `SELECT id, row_number() OVER (ORDER BY hits.place) AS place FROM (${hits}) hits`;
  return readSql(found, sampled, bounds, parameters);
};

// `id` alone would be the text that is answered, by which no index goes.
const oldestSql = `SELECT id::text FROM records WHERE ${inCollection} ORDER BY records.id LIMIT 1`;

/** Ids of the newest records and, as the other half, of random older ones; as many as their sizes allow. */
export const sampleIds = async (
  database: Database,
  collection: CollectionKey,
  bounds: SampleBounds,
  yieldSlot: YieldSlot,
): Promise<string[]> => {
  const half = Math.ceil(bounds.records / 2);
  const newest = startParameters(collection, half);
  await yieldSlot();
  const rows = await database.scan<SizedId>(
    `SELECT id::text, size_bytes FROM records WHERE ${inCollection} ORDER BY records.id DESC LIMIT $3`,
    newest.values,
  );
  const end = rows.at(-1)?.id;
  const [first] =
    end === undefined
      ? []
      : await database.scan<{ id: string }>(oldestSql, startParameters(collection).values);
  if (first && end && first.id < end) {
    const probes = startParameters(
      collection,
      randomIds(first.id, end, bounds.records - half),
      end,
    );
    await yieldSlot();
    rows.push(
      ...(await database.scan<SizedId>(
        `SELECT DISTINCT id::text, size_bytes FROM unnest($3::uuid[]) probe (from_id) CROSS JOIN LATERAL (
           SELECT id, size_bytes FROM records
           WHERE ${inCollection} AND id >= probe.from_id AND id < $4::uuid ORDER BY id LIMIT 1) found`,
        probes.values,
      )),
    );
  }
  let bytes = 0;
  return rows
    .filter(({ size_bytes: size }, place) => {
      bytes += size;
      return place === 0 || bytes <= bounds.bytes;
    })
    .map(({ id }) => id);
};

interface SizedId {
  id: string;
  size_bytes: number;
}

/** Of the records that are asked for, where a busy database does not read all of them in time. */
const hurriedShare = 20;

const inTime = <T>(scan: Promise<T>, orElse: () => Promise<T>): Promise<T> =>
  scan.catch((error: unknown) => {
    if (error instanceof StatementTimeout) return orElse();
    throw error;
  });

/** The newest records of a collection and random older ones; those behind a gap in time are met more often. */
export const sampleRecords = async (
  database: Database,
  sampled: Sampled,
  bounds: SampleBounds,
  yieldSlot: YieldSlot,
): Promise<Document[]> => {
  const scan = async (toText: (parameters: Parameters) => string) => {
    const parameters = startParameters(sampled.collection);
    const text = toText(parameters);
    await yieldSlot();
    return database.scan<{ id: string; data: string }>(text, parameters.values);
  };
  const newest = (records: number) =>
    scan((parameters) => newestSql(sampled, { ...bounds, records }, parameters));
  const rows = await inTime(newest(bounds.records), () =>
    newest(Math.ceil(bounds.records / hurriedShare)),
  );
  const [first] = rows.length === 0 ? [] : await scan(() => oldestSql);
  const end = rows.at(-1)?.id;
  if (first && end && first.id < end) {
    const ids = randomIds(first.id, end, bounds.records);
    rows.push(
      ...(await inTime(
        scan((parameters) => randomSql(sampled, bounds, { ids, end }, parameters)),
        async () => [],
      )),
    );
  }
  return rows.map(({ data }) => JSON.parse(data) as Document);
};
