import type { Database } from '@backlot/database';
import { steps } from '../call-sums/steps.ts';
import type { FoundSigns } from './keep-findings.ts';

const mostFound = 100;
const mostNetworks = 3;
const daysBefore = 7;

/** So many times as many as in the week before, and at least `least`. */
const times = 5;
const words = [
  { kind: 'mails', least: 100, failing: false, names: ['sendEmail'] },
  { kind: 'signUps', least: 50, failing: false, names: ['signUp', 'createGuest'] },
  { kind: 'uploads', least: 200, failing: false, names: ['uploadFile'] },
  {
    kind: 'refusedWrites',
    least: 300,
    failing: true,
    names: ['createRecord', 'replaceRecord', 'updateRecord', 'writeBatch'],
  },
] as const;

interface Burst {
  projectNumber: number;
  kind: FoundSigns['kind'];
  calls: number;
  usualPerHour: number;
  networks: { address: string; calls: number }[];
}

/** Projects that do much more of something than in the week before, the largest first. */
export const findBursts = async (database: Database, now: number): Promise<FoundSigns[]> => {
  const { ms } = steps.hours;
  // The hour that runs and the one before, so that a burst does not vanish with the hour.
  const since = new Date(Math.floor(now / ms) * ms - ms);
  const today = Math.floor(now / steps.days.ms) * steps.days.ms;
  const bursts = await database.scan<Burst>(
    `WITH words AS (
       SELECT word.kind, least, failing, name
         FROM jsonb_to_recordset($1) AS word (kind text, least int8, failing bool, names text[]),
              unnest(names) AS name),
     counted AS (
       SELECT words.kind, least, project_number, step,
              CASE WHEN failing THEN errors ELSE calls - errors END AS calls
         FROM call_sums JOIN words USING (name)
        WHERE call_sums.kind = 'route' AND project_number > 1
          AND ((step = 'hours' AND period >= $2) OR (step = 'days' AND period >= $3 AND period < $4))),
     summed AS (
       SELECT kind, least, project_number,
              coalesce(sum(calls) FILTER (WHERE step = 'hours'), 0)::int8 AS calls,
              coalesce(sum(calls) FILTER (WHERE step = 'days'), 0)::float8 / ${24 * daysBefore} AS usual
         FROM counted GROUP BY kind, least, project_number)
     SELECT kind, project_number AS "projectNumber", calls, round(usual::numeric, 2)::float8 AS "usualPerHour",
            (SELECT coalesce(jsonb_agg(jsonb_build_object('address', network, 'calls', made)), '[]')
               FROM (SELECT call_sums.name AS network, sum(call_sums.calls)::int8 AS made FROM call_sums
                      WHERE call_sums.kind = 'address' AND step = 'hours' AND period >= $2
                        AND call_sums.project_number = summed.project_number AND call_sums.name <> ''
                      GROUP BY call_sums.name ORDER BY made DESC LIMIT ${mostNetworks}) AS networks) AS networks
       FROM summed
      WHERE calls >= least AND calls >= ${2 * times} * usual
      ORDER BY calls DESC LIMIT ${mostFound}`,
    [JSON.stringify(words), since, new Date(today - daysBefore * steps.days.ms), new Date(today)],
  );
  return bursts.map(({ projectNumber, kind, calls, ...evidence }) => ({
    projectNumber,
    kind,
    subject: '',
    signs: [],
    calls,
    evidence,
  }));
};
