import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { dayMs } from '../record/change/log-sql.ts';
import { epochMsSql } from '../sql.ts';
import { toIso } from '../timestamps.ts';

export interface LogReachDeps {
  database: Database;
  /** How long the log is kept. */
  historyDays: number;
  /** Epoch milliseconds. */
  now: () => number;
}

const notSoFar = (fromMs: number) =>
  new ApiError('conflict', `The changes of this project are kept from ${toIso(fromMs)} on alone.`);

/** The log before its first entry is gone, where that is not its age alone. */
const beginsSql = `SELECT ${epochMsSql('changed_at')} AS ms, xid >= (
    SELECT floors.xid FROM change_floors floors WHERE floors.project_id = $1) AS is_cut
  FROM changes WHERE changes.project_id = $1 ORDER BY changes.xid LIMIT 1`;

/** How far the log of changes of a project reaches back. */
export const createLogReach = ({ database, historyDays, now }: LogReachDeps) => ({
  /** @throws ApiError invalid_body, conflict where the log does not reach back so far */
  async check(projectNumber: number, sinceMs: number, name: string): Promise<void> {
    const nowMs = now();
    if (sinceMs > nowMs + 60_000)
      throw new ApiError('invalid_body', `"${name}" lies in the future.`);
    const oldestMs = nowMs - historyDays * dayMs;
    if (sinceMs < oldestMs) throw notSoFar(oldestMs);
    const [clock] = await database.query<{ ms: number | null }>(
      `SELECT ${epochMsSql('emptied_at')} AS ms FROM log_clock`,
    );
    if (clock?.ms && clock.ms > sinceMs) throw notSoFar(clock.ms);
    const [first] = await database.query<{ ms: number; is_cut: boolean | null }>(beginsSql, [
      projectNumber,
    ]);
    if (first?.is_cut && first.ms > sinceMs) throw notSoFar(first.ms);
  },
});

export type LogReach = ReturnType<typeof createLogReach>;
