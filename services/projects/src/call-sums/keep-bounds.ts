import { type Database, deleteExpired, type workLeft } from '@backlot/database';
import { networksKeptMs, stepNames, steps } from './steps.ts';
import { lockSums } from './take-sums.ts';

/** Rows of a kind that a period keeps; the lighter ones are added up. */
const mostOfPeriod = 2000;

/** A period is still added to for so long after its end. */
const lateMs = 2 * 60 * 60_000;

const measures = [
  'calls',
  'errors',
  'refusals',
  'faults',
  'bytes',
  'database_us',
  'thread_us',
  'millicredits',
];

/** Heavy in any way: in microseconds of everything. */
const weight = 'calls * 200 + bytes / 100 + database_us + thread_us + millicredits * 1000';

const shorten = (database: Database, now: number, most: number) =>
  database.transaction(async () => {
    await lockSums(database);
    const open = stepNames.map((step) => ({
      step,
      since: new Date(now - steps[step].ms - lateMs),
    }));
    await database.query(
      `WITH ranked AS (
         SELECT kind, step, period, project_number, name,
                row_number() OVER (PARTITION BY kind, step, period ORDER BY ${weight} DESC) AS place
           FROM call_sums JOIN jsonb_to_recordset($1) AS open (step text, since timestamptz) USING (step)
          WHERE period >= since AND (project_number, name) <> (0, '')),
       gone AS (
         DELETE FROM call_sums USING ranked
          WHERE place >= $2 AND call_sums.kind = ranked.kind AND call_sums.step = ranked.step
            AND call_sums.period = ranked.period AND call_sums.project_number = ranked.project_number
            AND call_sums.name = ranked.name
         RETURNING call_sums.*)
       INSERT INTO call_sums AS known (kind, step, period, project_number, name, ${measures})
       SELECT kind, step, period, 0, '', ${measures.map((name) => `sum(${name})`)}
         FROM gone GROUP BY kind, step, period
       ON CONFLICT (kind, step, period, project_number, name) DO UPDATE
         SET ${measures.map((name) => `${name} = known.${name} + excluded.${name}`)}`,
      [JSON.stringify(open), most],
    );
  });

/** Holds each period to what it may have, and lets old ones go. */
export const keepBounds = async (
  database: Database,
  now: number,
  most = mostOfPeriod,
): Promise<typeof workLeft | undefined> => {
  await shorten(database, now, most);
  const past = (ms: number) => new Date(now - ms);
  return await deleteExpired(database, [
    ...stepNames.map((step) => ({
      table: 'call_sums',
      condition: `step = '${step}' AND period < $1`,
      values: [past(steps[step].keptMs + steps[step].ms)],
    })),
    {
      table: 'call_sums',
      condition: `kind = 'address' AND step = 'days' AND period < $1`,
      values: [past(networksKeptMs + steps.days.ms)],
    },
  ]);
};
