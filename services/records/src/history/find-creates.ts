import type { Database } from '@backlot/database';
import { dayMs, logSlot } from '../record/change/log-sql.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { startParameters } from '../sql.ts';
import { toIso } from '../timestamps.ts';

/** Who has made a record, and by which call. */
export interface CreateEntry {
  seq: number;
  actor: string | null;
  request_id: string | null;
}

/** A create is logged so long after the time of its record at most, by clocks that may differ. */
const [earlierMs, laterMs] = [5000, 30_000];

/** Those of a time are read: no index by record has creates (docs/decisions/0042). */
const findSql = `SELECT made.ms, entry.seq, entry.actor, entry.request_id
  FROM unnest($4::int8[], $5::timestamptz[]) made(ms, at), LATERAL (
    SELECT changes.seq, changes.actor, changes.request_id FROM changes
    WHERE changes.project_id = $1 AND changes.coll_id = $2 AND changes.record_id = $3 AND changes.kind = 'c'
      AND changes.slot = ANY ($6::int2[]) AND changes.seq BETWEEN (made.ms - ${earlierMs}) * 1000 AND (made.ms + ${laterMs}) * 1000
      AND changes.changed_at >= made.at
    ORDER BY changes.seq LIMIT 1) entry`;

/**
 * The creates of a record by its versions of then, in epoch milliseconds. One that brought its own time, such as an
 * imported record, is not found.
 */
export const findCreates = async (
  database: Database,
  { collection, id }: Pick<RecordTarget, 'collection' | 'id'>,
  versions: readonly number[],
): Promise<ReadonlyMap<number, CreateEntry>> => {
  if (versions.length === 0) return new Map();
  const days = versions.flatMap((ms) => [ms - earlierMs, ms, ms + laterMs, ms + dayMs]);
  const rows = await database.query<CreateEntry & { ms: number }>(findSql, [
    ...startParameters(collection, id.toLowerCase()).values,
    versions,
    versions.map(toIso),
    [...new Set(days.map(logSlot))],
  ]);
  return new Map(rows.map(({ ms, ...entry }) => [ms, entry]));
};
