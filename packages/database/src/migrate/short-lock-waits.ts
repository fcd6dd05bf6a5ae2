import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

export interface LockWaits {
  /** How long one statement waits for a table, and whoever comes to the table behind it. */
  timeoutMs: number;
  /** Between two attempts. */
  pauseMs: number;
  attempts: number;
}

/** 15 minutes in all: longer than any statement of a service, of which the longest may take 10. */
const usual: LockWaits = { timeoutMs: 3000, pauseMs: 12_000, attempts: 60 };

export interface LockWaitOptions {
  schema: string;
  lockWaits?: Partial<LockWaits> | undefined;
  /** Told of each attempt that ended because a table was in use. */
  warn?: ((text: string) => void) | undefined;
}

const LOCK_NOT_AVAILABLE = '55P03';

const isInUse = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;

/**
 * Runs a transaction that changes tables. While it waits for a table, everybody else waits behind it: so it gives
 * up soon, lets them pass and is run again.
 * @throws Error where a table was in use each time
 */
export const withShortLockWaits = async (
  client: pg.ClientBase,
  transaction: () => Promise<unknown>,
  { schema, lockWaits, warn = () => {} }: LockWaitOptions,
): Promise<void> => {
  const { timeoutMs, pauseMs, attempts } = { ...usual, ...lockWaits };
  await client.query(`SET lock_timeout = ${timeoutMs}`);
  for (let attempt = 1; ; attempt++) {
    try {
      await transaction();
      break;
    } catch (cause) {
      if (!isInUse(cause)) throw cause;
      const inUse = `${schema}: a table that a migration changes is in use`;
      if (attempt >= attempts)
        throw new Error(
          `${inUse} after ${attempts} attempts; nothing was applied. pg_stat_activity shows by whom.`,
          { cause },
        );
      warn(`${inUse}; attempt ${attempt} of ${attempts}, the next in ${pauseMs / 1000} s`);
      await pause(pauseMs);
    }
  }
  await client.query('RESET lock_timeout');
};
