import { setTimeout as pause } from 'node:timers/promises';
import { withClient } from './one-client.ts';

/** Why a session waits: for which table, and who has it. */
export interface LockWait {
  table: string;
  holders: string[];
}

/** No text of statements: it may hold what users have sent. */
const selectWait = `
  SELECT coalesce((SELECT relation::regclass::text FROM pg_locks WHERE pid = $1 AND NOT granted LIMIT 1), 'a row') AS table,
    ARRAY(SELECT format('process %s of PostgreSQL (%s, %s, since %s)', blocker.pid,
        coalesce(nullif(application_name, '') || ' as ', '') || coalesce(usename, 'unknown'), coalesce(state, 'unknown'),
        coalesce(to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'unknown'))
      FROM unnest(pg_blocking_pids($1)) blocker (pid) LEFT JOIN pg_stat_activity activity USING (pid) LIMIT 5) AS holders
   WHERE EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)`;

const lookEveryMs = 100;

/**
 * Looks, on a connection of its own, for what the session waits for while `work` runs.
 * Returns the last that was seen, if anything was.
 */
export const watchLockWaits = async <T>(
  url: string,
  pid: number,
  work: (lastWait: () => LockWait | undefined) => Promise<T>,
): Promise<T> => {
  let last: LockWait | undefined;
  const ended = new AbortController();
  const watching = withClient({ connectionString: url }, async (client) => {
    while (!ended.signal.aborted) {
      const { rows } = await client.query<LockWait>(selectWait, [pid]);
      last = rows[0] ?? last;
      await pause(lookEveryMs, undefined, { signal: ended.signal }).catch(() => {});
    }
  }).catch(() => {});
  try {
    return await work(() => last);
  } finally {
    ended.abort();
    await watching;
  }
};
