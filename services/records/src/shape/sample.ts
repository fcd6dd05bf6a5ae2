import { randomBytes } from 'node:crypto';
import type { Database } from '@backlot/database';
import type { YieldSlot } from '@backlot/fair-shares';
import { inCollection } from '../sql.ts';

/** Newest records of a sample, and random ones beside them. */
export const sampledRecords = 500;
/** Of the documents of each half, so that large ones cost no more than many: the first is always read. */
const maxBytes = 1024 * 1024;

export type Document = Readonly<Record<string, unknown>>;

const withinBytes = (source: string, order: string, bytes: string) =>
  `SELECT id::text, data::text FROM (
    SELECT id, data, sum(size_bytes) OVER (ORDER BY ${order}) AS bytes, row_number() OVER (ORDER BY ${order}) AS place
    FROM ${source} sampled) sized
  WHERE bytes <= ${bytes} OR place = 1 ORDER BY place`;

const newest = `WITH newest AS MATERIALIZED (
    SELECT id, size_bytes, data FROM records WHERE ${inCollection} ORDER BY id DESC LIMIT $3)
  ${withinBytes('newest', 'id DESC', '$4')}`;

/** For each of the ids that were made up, the record that follows it in the primary key. */
const following = `WITH hits AS MATERIALIZED (
    SELECT DISTINCT ON (hit.id) hit.*, probe.place FROM unnest($3::uuid[]) WITH ORDINALITY AS probe (id, place)
    CROSS JOIN LATERAL (
      SELECT records.id, size_bytes, data FROM records
      WHERE ${inCollection} AND records.id >= probe.id AND records.id < $5::uuid
      ORDER BY records.id LIMIT 1) hit
    ORDER BY hit.id, probe.place)
  ${withinBytes('hits', 'place', '$4')}`;

const oldest = `SELECT id::text FROM records WHERE ${inCollection} ORDER BY id LIMIT 1`;

const toNumber = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`);
const toId = (value: bigint) =>
  value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Evenly spread from `first` up to below `end`. */
const randomIds = (first: string, end: string): string[] => {
  const low = toNumber(first);
  const range = toNumber(end) - low;
  const random = () => BigInt(`0x${randomBytes(16).toString('hex')}`);
  return Array.from({ length: sampledRecords }, () => toId(low + ((random() * range) >> 128n)));
};

/**
 * The newest records of a collection and random older ones, in two statements of bounded work. Where ids
 * are unevenly spread in time, those behind a gap are met more often.
 */
export const sampleRecords = async (
  database: Database,
  collection: { projectNumber: number; id: number },
  yieldSlot: YieldSlot,
): Promise<Document[]> => {
  const key = [collection.projectNumber, collection.id];
  const scan = async (text: string, ...values: unknown[]) => {
    await yieldSlot();
    return database.scan<{ id: string; data: string }>(text, [...key, ...values]);
  };
  const rows = await scan(newest, sampledRecords, maxBytes);
  const [first] = await scan(oldest);
  const end = rows.at(-1)?.id;
  if (first && end && first.id < end)
    rows.push(...(await scan(following, randomIds(first.id, end), maxBytes, end)));
  return rows.map(({ data }) => JSON.parse(data) as Document);
};
