import type { Database } from '@backlot/database';

const batchSize = 10_000;
/** An address not seen for as long is a new one. */
const knownAddressMs = 90 * 24 * 3_600_000;

/** Rows whose time has passed, across projects; a locked row is left to the next run. */
const outdated = [
  { table: 'sessions', time: 'expires_at', keptMs: 0 },
  { table: 'one_time_tokens', time: 'expires_at', keptMs: 0 },
  { table: 'attempts', time: 'window_ends_at', keptMs: 0 },
  { table: 'known_addresses', time: 'last_seen_at', keptMs: knownAddressMs },
] as const;

/** Deletes at most 10,000 outdated rows of each table. */
export const sweep = async (database: Database, now: () => number): Promise<void> => {
  for (const { table, time, keptMs } of outdated) {
    await database.query(
      `DELETE FROM ${table} WHERE ctid IN (
         SELECT ctid FROM ${table} WHERE ${time} <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [new Date(now() - keptMs), batchSize],
    );
  }
};
