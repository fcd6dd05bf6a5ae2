import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type pg from 'pg';

/** A statement that had to wait for another transaction before it got its lock. */
export interface LockWait {
  /** Epoch milliseconds at which it went on. */
  until: number;
  ms: number;
  /** For example `ShareLock on advisory lock`, or with the table of the row `ShareLock on transaction (collections)`. */
  lock: string;
}

/** PostgreSQL tells of shorter waits nowhere. */
const leastMs = 5;

/** From now on the server's log names every wait for a lock. */
export const logLockWaits = async (client: pg.Client): Promise<void> => {
  await client.query('ALTER SYSTEM SET log_lock_waits = on');
  await client.query(`ALTER SYSTEM SET deadlock_timeout = '${leastMs}ms'`);
  await client.query('SELECT pg_reload_conf()');
};

const entry =
  /^(\S+ \S+) UTC .* acquired (\w+ on (?:advisory lock|\w+)).* after ([\d.]+) ms\n(?:.*CONTEXT: .* in relation "(\w+)")?/gm;

/** The waits that the server's log has, of `startPostgres`. */
export const readLockWaits = async (client: pg.Client): Promise<LockWait[]> => {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  const log = await readFile(join(dirname(rows[0]?.data_directory ?? ''), 'postgres.log'), 'utf8');
  return [...log.matchAll(entry)].map(([, at, lock = '', ms, table]) => ({
    until: Date.parse(`${at}Z`),
    ms: Number(ms),
    lock: table ? `${lock} (${table})` : lock,
  }));
};
