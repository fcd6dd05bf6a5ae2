import { createHash } from 'node:crypto';
import { insertFromSql, type Parameters } from '../../sql.ts';
import { toIso } from '../../timestamps.ts';
import type { KeptLimits } from './limits.ts';
import { noSide, type SideSql } from './side-sql.ts';

const hourMs = 3_600_000;
/** Under which it is counted what is made in an hour. */
const hourly = 0;

/** What a new record counts for, and how much there may be of it. */
export interface RecordCount {
  limit: 'perUser' | 'perUserPerHour' | 'perAddressPerHour';
  /** Names it together with the key. */
  number: number;
  key: string;
  most: number;
  /** The time, where an hour is counted that begins with the first record: epoch milliseconds. */
  since: number | null;
}

/** Who makes a record; without `asker` somebody whom no limit binds. */
interface Maker {
  userId: string | null;
  asker?: { ip?: string };
}

export const countsCreates = (limits: KeptLimits | undefined): boolean =>
  limits?.number !== undefined ||
  limits?.perUserPerHour !== undefined ||
  limits?.perAddressPerHour !== undefined;

/** @param nowMs epoch milliseconds */
export const countsFor = (
  limits: KeptLimits | undefined,
  { userId, asker }: Maker,
  nowMs: number,
): RecordCount[] => {
  const counts: RecordCount[] = [];
  const { number, perUser, perUserPerHour, perAddressPerHour } = limits ?? {};
  const inHour = (limit: RecordCount['limit'], key: string, most: number) =>
    counts.push({ limit, number: hourly, key, most, since: nowMs });
  if (userId !== null && number !== undefined && perUser !== undefined)
    counts.push({ limit: 'perUser', number, key: userId, most: perUser, since: null });
  if (userId !== null && perUserPerHour !== undefined)
    inHour('perUserPerHour', `user ${userId}`, perUserPerHour);
  if (asker?.ip !== undefined && perAddressPerHour !== undefined) {
    const hash = createHash('sha256').update(asker.ip).digest('base64url');
    inHour('perAddressPerHour', `address ${hash}`, perAddressPerHour);
  }
  return counts;
};

/** As the table `counter`. */
const addCounts = (counts: readonly RecordCount[], parameters: Parameters): string => {
  const list = (value: (count: RecordCount) => unknown, type: string) =>
    parameters.add(counts.map(value), `${type}[]`);
  const lists = [
    list(({ number }) => number, 'int'),
    list(({ key }) => key, 'text'),
    list(({ most }) => most, 'int8'),
    list(({ since }) => since && toIso(since), 'timestamptz'),
    list(({ since }) => since && toIso(since + hourMs), 'timestamptz'),
  ];
  return `unnest(${lists.join(', ')}) counter(number, key, most, since, ends_at)`;
};

/** Holds where so many records more are not too many, as far as others have committed by now. */
export const hasRoomSql = (
  counts: readonly RecordCount[],
  records: number,
  parameters: Parameters,
): string | undefined =>
  counts.length === 0
    ? undefined
    : `NOT EXISTS (SELECT FROM record_counts held, ${addCounts(counts, parameters)}
      WHERE held.project_id = $1 AND held.coll_id = $2 AND held.number = counter.number AND held.key = counter.key
        AND (held.ends_at <= counter.since) IS NOT TRUE AND held.records + ${parameters.add(records, 'int')} > counter.most)`;

const isOver = 'record_counts.ends_at <= excluded.since';

/**
 * Counts the records of the table `changed`, in one order for all, so that no two wait for each other. Of those who come
 * at once the table's own check refuses who is too many.
 */
export const countCreatedSql = (
  counts: readonly RecordCount[],
  parameters: Parameters,
): SideSql => {
  if (counts.length === 0) return noSide;
  const columns = {
    number: 'counter.number',
    key: 'counter.key',
    records: 'made.records',
    most: 'counter.most',
    since: 'counter.since',
    ends_at: 'counter.ends_at',
  };
  const source = `(SELECT count(*) AS records FROM changed) made, ${addCounts(counts, parameters)}`;
  const insert = insertFromSql('record_counts', columns, source, 'made.records > 0');
  return {
    ...noSide,
    tables: `, made_records AS (${insert} ORDER BY counter.number, counter.key
      ON CONFLICT (project_id, coll_id, number, key) DO UPDATE SET most = excluded.most,
        records = excluded.records + CASE WHEN ${isOver} THEN 0 ELSE record_counts.records END,
        since = CASE WHEN ${isOver} THEN excluded.since ELSE record_counts.since END,
        ends_at = CASE WHEN ${isOver} OR excluded.since IS NULL THEN excluded.ends_at ELSE record_counts.ends_at END)`,
  };
};

/** Of counts for users; one of nothing ends. Citus takes no `now()` here. */
const addsUpSql = `ON CONFLICT (project_id, coll_id, number, key) DO UPDATE SET records = record_counts.records + excluded.records,
  most = NULL, ends_at = CASE WHEN record_counts.records + excluded.records = 0 THEN excluded.ends_at END`;

/**
 * Counts the records of the table `changed` for whom somebody else gives them, whatever their limits, and gives users
 * back what those counted for that they lose.
 */
export const countOwnersSql = (
  { number }: Pick<KeptLimits, 'number'>,
  { lose = false, gain = false }: { lose?: boolean; gain?: boolean },
  parameters: Parameters,
): SideSql => {
  if (number === undefined) return noSide;
  const owners: string[] = [];
  if (lose) owners.push('SELECT former_owner AS owner, -1 AS records FROM changed');
  if (gain) owners.push('SELECT next_owner AS owner, 1 AS records FROM changed');
  const owned = `(SELECT owner::text AS key, sum(records)::int8 AS records FROM (${owners.join(' UNION ALL ')}) owners
    WHERE owner IS NOT NULL GROUP BY 1) owned`;
  const columns = {
    number: parameters.add(number, 'int'),
    key: 'owned.key',
    records: 'owned.records',
    ends_at: parameters.add(toIso(Date.now()), 'timestamptz'),
  };
  return {
    ...noSide,
    returned: `${lose ? ', old.owner_id AS former_owner' : ''}${gain ? ', new.owner_id AS next_owner' : ''}`,
    tables: `, owned_records AS (${insertFromSql('record_counts', columns, owned, 'owned.records <> 0')} ORDER BY owned.key ${addsUpSql})`,
  };
};

/**
 * Counts all records of a collection anew, whatever changes meanwhile: what there is in this statement's snapshot, but
 * for what writers had counted by then. What they count later stays as it is. May be repeated.
 */
export const countAllSql = `INSERT INTO record_counts (project_id, coll_id, number, key, records)
  SELECT $1::int8, $2::int4, $3::int4, key, sum(records)::int8 FROM (
    SELECT owner_id::text AS key, count(*) AS records FROM records
    WHERE project_id = $1 AND coll_id = $2 AND owner_id IS NOT NULL GROUP BY 1
    UNION ALL
    SELECT key, -records FROM record_counts WHERE project_id = $1 AND coll_id = $2 AND number = $3) counted
  GROUP BY key HAVING sum(records) <> 0 ORDER BY key ${addsUpSql}`;
