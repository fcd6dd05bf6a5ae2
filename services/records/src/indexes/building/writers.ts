import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';

/** Transactions that have written records, or are about to with what they saw before now. */
const writersSql = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'
    AND relation = 'records'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const patienceMs = 100;
const pollMs = 20;
const maxWaits = 10_000;

/**
 * True once every transaction has ended that began a statement before the first call for the key: later ones see the
 * collection's epoch. Each holds its lock on the table from before its snapshot to its end. False where they take longer;
 * the next call waits for those that are left.
 */
export type WaitForWriters = (key: string) => Promise<boolean>;

export const createWaitForWriters = (database: Database): WaitForWriters => {
  const waits = new LRUCache<string, readonly string[]>({ max: maxWaits });
  const read = async () => (await database.query<{ id: string }>(writersSql)).map(({ id }) => id);
  return async (key) => {
    const untilMs = performance.now() + patienceMs;
    let left = waits.get(key) ?? (await read());
    while (left.length > 0) {
      if (performance.now() > untilMs) {
        waits.set(key, left);
        return false;
      }
      await pause(pollMs);
      const running = new Set(await read());
      left = left.filter((id) => running.has(id));
    }
    waits.delete(key);
    return true;
  };
};
