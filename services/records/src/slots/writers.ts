import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@backlot/database';

/** Transactions that have written records, or are about to with what they saw before now. */
const writersSql = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'
    AND (relation = 'records'::regclass
      OR relation IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('records_large')))
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Returns true once every transaction has ended that began a statement before now: later ones see the
 * collection's epoch as it is. Each holds its lock on the table from before its snapshot to its end.
 * @param untilMs of `performance.now()`; false where they take longer
 */
export const waitForWriters = async (database: Database, untilMs: number): Promise<boolean> => {
  const read = async () => (await database.query<{ id: string }>(writersSql)).map(({ id }) => id);
  let left = await read();
  while (left.length > 0) {
    if (performance.now() > untilMs) return false;
    await pause(20);
    const running = new Set(await read());
    left = left.filter((id) => running.has(id));
  }
  return true;
};
