import type { CallSum } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { stepNames, steps } from './steps.ts';

export type TakenSum = CallSum & { millicredits?: number };

/** Writers go one after the other: rows that all of them change are locked in no circle. */
export const lockSums = (database: Database) =>
  database.query(`SELECT pg_advisory_xact_lock(hashtextextended('call sums', 0))`);

/** A gateway's clock may be wrong, and what it hands over late belongs where it happened. */
const latestMs = 60 * 60_000;

/** Belongs into a transaction. */
export const takeSums = async (
  database: Database,
  { since, items }: { since: number; items: readonly TakenSum[] },
  now: number,
): Promise<void> => {
  if (items.length === 0) return;
  const at = Math.min(Math.max(since, now - latestMs), now);
  const periods = stepNames.map((step) => ({
    step,
    period: new Date(Math.floor(at / steps[step].ms) * steps[step].ms),
  }));
  await lockSums(database);
  await database.named(
    'take-call-sums',
    `INSERT INTO call_sums AS known (step, period, kind, project_number, name, calls, errors, refusals, faults,
            bytes, database_us, thread_us, millicredits)
     SELECT step, period, kind, "projectNumber", name, calls, errors, refusals, faults, bytes, "databaseUs",
            "threadUs", coalesce(millicredits, 0)
       FROM jsonb_to_recordset($1) AS periods (step text, period timestamptz),
            jsonb_to_recordset($2) AS sums (kind text, "projectNumber" int8, name text, calls int8, errors int8,
              refusals int8, faults int8, bytes int8, "databaseUs" int8, "threadUs" int8, millicredits int8)
     ON CONFLICT (kind, step, period, project_number, name) DO UPDATE SET
       calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
       refusals = known.refusals + excluded.refusals, faults = known.faults + excluded.faults,
       bytes = known.bytes + excluded.bytes, database_us = known.database_us + excluded.database_us,
       thread_us = known.thread_us + excluded.thread_us,
       millicredits = known.millicredits + excluded.millicredits`,
    [JSON.stringify(periods), JSON.stringify(items)],
  );
};
