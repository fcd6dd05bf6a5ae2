import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type LockWait, watchLockWaits } from './lock-holders.ts';

export interface LockWaits {
  /** How long one statement waits for a table, and whoever comes to the table behind it. */
  timeoutMs: number;
  /** Between two attempts. */
  pauseMs: number;
  attempts: number;
}

/** Fails within 3 s: calls wait behind a statement that waits, and who migrates wants to know what for. */
const usual: LockWaits = { timeoutMs: 1000, pauseMs: 500, attempts: 2 };

/** For who would rather wait than look: longer pauses, in which calls go on. */
export const lockWaitsFor = (seconds: number): LockWaits => {
  const [timeoutMs, pauseMs] = [1000, 4000];
  return { timeoutMs, pauseMs, attempts: 1 + Math.ceil((seconds * 1000) / (timeoutMs + pauseMs)) };
};

/** Of one statement, such as the building of an index, for which all who write to its table wait. */
const usualStatementMs = 5 * 60_000;

export interface LockWaitOptions {
  schema: string;
  lockWaits?: Partial<LockWaits> | undefined;
  /** How long a statement may take that does not say so itself (`SET LOCAL statement_timeout`). */
  statementMs?: number | undefined;
  /** Told of each attempt that ended because a table was in use. */
  warn?: ((text: string) => void) | undefined;
}

const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof pg.DatabaseError && error.code === code;

const describeWait = (schema: string, wait: LockWait | undefined): string => {
  if (!wait) return `${schema}: a table that a migration changes is in use`;
  const table = wait.table.includes('.') ? wait.table : `${schema}.${wait.table}`;
  return `${table} is in use by ${wait.holders.join(' and ') || 'somebody who has gone'}`;
};

/**
 * Runs a transaction that changes tables. Everybody else waits behind it: so it gives up soon and may be run again.
 * @throws Error where a table was in use each time, which names it and by whom, or a statement took too long
 */
export const withShortLockWaits = async (
  url: string,
  client: pg.ClientBase,
  transaction: () => Promise<unknown>,
  { schema, lockWaits, statementMs = usualStatementMs, warn = () => {} }: LockWaitOptions,
): Promise<void> => {
  const { timeoutMs, pauseMs, attempts } = { ...usual, ...lockWaits };
  await client.query(`SET lock_timeout = ${timeoutMs}; SET statement_timeout = ${statementMs}`);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await watchLockWaits(url, rows[0]?.pid ?? 0, async (lastWait) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await transaction();
        return;
      } catch (cause) {
        if (hasCode(cause, QUERY_CANCELED))
          throw new Error(
            `${schema}: a statement of a migration took longer than ${statementMs / 1000} s; nothing was applied. pnpm migrate --longest <seconds> lets it, and whoever uses its table waits meanwhile.`,
            { cause },
          );
        if (!hasCode(cause, LOCK_NOT_AVAILABLE)) throw cause;
        const inUse = describeWait(schema, lastWait());
        if (attempt >= attempts)
          throw new Error(
            `${inUse}, which a migration changes. Nothing was applied after ${attempts} attempts; pnpm migrate --wait <seconds> makes more of them.`,
            { cause },
          );
        warn(`${inUse}; attempt ${attempt} of ${attempts}, the next in ${pauseMs / 1000} s`);
        await pause(pauseMs);
      }
    }
  });
  await client.query('RESET lock_timeout; RESET statement_timeout');
};
