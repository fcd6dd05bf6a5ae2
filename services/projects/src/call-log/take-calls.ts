import {
  type CallBatch,
  type CallLogItem,
  type NotedCalls,
  platformProject,
  requestRoutes,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { CallSums } from '../call-sums/call-sums.ts';

const toItems = ({ calls, lost }: NotedCalls): CallLogItem[] => {
  const items: CallLogItem[] = calls.map((call) => ({ type: 'call', ...call }));
  if (!lost) return items;
  return [{ type: 'gap', at: lost.until, since: lost.since, calls: lost.calls }, ...items];
};

const userIdIn = (item: CallLogItem) => (item.type === 'call' ? item.userId : null);

/**
 * Adds a gateway's batch to the logs of its projects, once. Logs are locked in the order of their numbers, so that
 * batches of several gateways wait for each other and never in a circle.
 */
export const createTakeCalls =
  (database: Database, callSums: Pick<CallSums, 'take'>, now: () => number) =>
  ({ gateway, number, projects, sums }: CallBatch): Promise<void> =>
    database.transaction(async () => {
      // What a crash of PostgreSQL takes is less than a second of it.
      await database.query('SET LOCAL synchronous_commit = off');
      const fresh = await database.query(
        `INSERT INTO call_log_gateways AS known (gateway, batch, at) VALUES ($1, $2, $3)
         ON CONFLICT (gateway) DO UPDATE SET batch = $2, at = $3 WHERE known.batch < $2
         RETURNING 1`,
        [gateway, number, new Date(now())],
      );
      if (fresh.length === 0) return;
      const items = new Map(
        projects
          .filter(({ projectNumber }) => projectNumber !== platformProject.number)
          .map((noted) => [noted.projectNumber, toItems(noted)]),
      );
      const numbers = [...items.keys()].sort((a, b) => a - b);
      const counts = numbers.map((of) => items.get(of)?.length ?? 0);
      const logs = await database.query<{ project_number: number; last_line: number }>(
        `INSERT INTO call_logs AS log (project_number, owner_id, last_line, checked_at)
         SELECT number, owner_id, added, $3::timestamptz FROM projects
           JOIN unnest($1::int8[], $2::int8[]) AS noted (of, added) ON of = number
          ORDER BY number
         ON CONFLICT (project_number) DO UPDATE
           SET last_line = log.last_line + excluded.last_line, owner_id = excluded.owner_id,
               first_line = greatest(log.first_line,
                 log.last_line + excluded.last_line - ${requestRoutes.keptCalls - 1})
         RETURNING project_number, last_line`,
        [numbers, counts, new Date(now())],
      );
      const lines = logs.flatMap(({ project_number: of, last_line: last }) => {
        const added = items.get(of) ?? [];
        return added.map((item, index) => ({
          of,
          line: last - added.length + index + 1,
          at: item.at,
          user: userIdIn(item),
          item,
        }));
      });
      await database.query(
        `INSERT INTO call_lines (project_number, line, at, user_id, item)
         SELECT "of", line, at, "user", item FROM jsonb_to_recordset($1::jsonb)
           AS added ("of" int8, line int8, at timestamptz, "user" uuid, item jsonb)
          WHERE NOT EXISTS (SELECT FROM call_log_erasures
                             WHERE project_number = "of" AND user_id = "user")`,
        [JSON.stringify(lines)],
      );
      if (sums) await callSums.take(sums.items, Date.parse(sums.since));
    });
