import { setTimeout as pause } from 'node:timers/promises';
import { type Database, LockTimeout } from '@backlot/database';
import { shortenLockWaits, type Turn } from './turns.ts';

/** A transaction of a background job; of all processes one runs one at a time. `waited`: a lock was another's. */
export type RunBatch = <Outcome>(
  work: () => Promise<Outcome>,
  options?: { statementTimeoutMs?: number } | undefined,
) => Promise<Outcome | Turn>;

export const createRunBatch = (database: Database, job: string): RunBatch => {
  const lockSql = `SELECT pg_try_advisory_xact_lock(hashtextextended('records ${job}', 0)) AS free`;
  return async (work, options) => {
    try {
      return await database.transaction(async () => {
        const [[lock]] = await Promise.all([
          database.query<{ free: boolean }>(lockSql),
          shortenLockWaits(database),
        ]);
        return lock?.free ? await work() : 'elsewhere';
      }, options);
    } catch (error) {
      if (error instanceof LockTimeout) return 'waited';
      throw error;
    }
  };
};

/** As long a pause as the batch took leaves at least half of one connection's work to others. */
export const withRest = async (runBatch: () => Promise<Turn>): Promise<Turn> => {
  const startedAt = performance.now();
  const outcome = await runBatch();
  if (outcome === 'worked') await pause(performance.now() - startedAt);
  return outcome;
};
