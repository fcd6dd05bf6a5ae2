import { randomBytes } from 'node:crypto';
import type { Database } from '@backlot/database';
import type { YieldSlot } from '@backlot/fair-shares';
import { type Access, rowPolicySql } from '../collections/access.ts';
import { visibleRecordsSql } from '../collections/field-rules.ts';
import { deadlineSql, isInTime } from '../query/list-statement.ts';
import { type CollectionKey, inCollection, type Parameters, startParameters } from '../sql.ts';

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
  const visible = () => visibleRecordsSql(sampled, parameters);
  const isSized = sampled.access.fields.hidden.length === 0;
  const start = isSized ? 'WITH' : `WITH ${deadlineSql(parameters.add(sizingMs, 'int'))},`;
  const size = isSized
    ? 'size_bytes'
    : `CASE WHEN place = 1 OR ${isInTime} THEN size_bytes END AS size_bytes`;
  return `${start} found AS MATERIALIZED (${found}),
    sized AS MATERIALIZED (
      SELECT found.id, place, ${size}
      FROM found JOIN ${visible()} ON records.id = found.id WHERE ${inCollection}),
    kept AS MATERIALIZED (
      SELECT id, place FROM (SELECT *, sum(size_bytes) OVER (ORDER BY place) AS bytes FROM sized) sized
      WHERE size_bytes IS NOT NULL AND (bytes <= ${parameters.add(bytes, 'int8')} OR place = 1))
    SELECT kept.id::text, data::text FROM kept JOIN ${visible()} ON records.id = kept.id
    WHERE ${inCollection} ORDER BY place`;
};

const newestSql = (sampled: Sampled, bounds: SampleBounds, parameters: Parameters): string => {
  const { access } = sampled;
  const limit = parameters.add(bounds.records, 'int');
  const policy = rowPolicySql(access.rights.read, access, parameters);
  const newest = (rows: string) =>
    `SELECT id, owner_id, group_id FROM records WHERE ${inCollection} ORDER BY id DESC LIMIT ${rows}`;
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
    FROM unnest(${probes}) WITH ORDINALITY AS probe (id, place)
    CROSS JOIN LATERAL (
      SELECT records.id, owner_id, group_id FROM records
      WHERE ${inCollection} AND records.id >= probe.id AND records.id < ${parameters.add(end, 'uuid')}
      ORDER BY records.id LIMIT 1) records
    WHERE ${policy} ORDER BY records.id, probe.place`;
  const found = `SELECT id, row_number() OVER (ORDER BY hits.place) AS place FROM (${hits}) hits`;
  return readSql(found, sampled, bounds, parameters);
};

const oldestSql = `SELECT id::text FROM records WHERE ${inCollection} ORDER BY id LIMIT 1`;

const toNumber = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`);
const toId = (value: bigint) =>
  value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Evenly spread from `first` up to below `end`. */
const randomIds = (first: string, end: string, count: number): string[] => {
  const low = toNumber(first);
  const range = toNumber(end) - low;
  const random = () => BigInt(`0x${randomBytes(16).toString('hex')}`);
  return Array.from({ length: count }, () => toId(low + ((random() * range) >> 128n)));
};

/**
 * The newest records of a collection and random older ones, in a few statements of bounded work. Where
 * ids are unevenly spread in time, those behind a gap are met more often.
 */
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
  const rows = await scan((parameters) => newestSql(sampled, bounds, parameters));
  const [first] = rows.length === 0 ? [] : await scan(() => oldestSql);
  const end = rows.at(-1)?.id;
  if (first && end && first.id < end) {
    const ids = randomIds(first.id, end, bounds.records);
    rows.push(
      ...(await scan((parameters) => randomSql(sampled, bounds, { ids, end }, parameters))),
    );
  }
  return rows.map(({ data }) => JSON.parse(data) as Document);
};
