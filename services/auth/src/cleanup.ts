import type { Database } from '@backlot/database';

const eraseBatchSize = 500;
const sweepBatchSize = 10_000;
/** An IP address not seen for as long is a new one. */
const knownAddressMs = 90 * 24 * 3_600_000;

const erased = [
  { table: 'users', key: 'id' },
  { table: 'attempts', key: 'counter' },
  { table: 'one_time_tokens', key: 'token_hash' },
] as const;

/** Erases all accounts of a project in short transactions; sessions and links go with their users. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  for (const { table, key } of erased) {
    let deleted: unknown[];
    do {
      deleted = await database.query(
        `DELETE FROM ${table} WHERE project_number = $1 AND ${key} IN (
           SELECT ${key} FROM ${table} WHERE project_number = $1 ORDER BY ${key} LIMIT $2) RETURNING 1`,
        [projectNumber, eraseBatchSize],
      );
    } while (deleted.length === eraseBatchSize);
  }
};

const expiring = [
  { table: 'sessions', time: 'expires_at', keptMs: 0 },
  { table: 'one_time_tokens', time: 'expires_at', keptMs: 0 },
  { table: 'attempts', time: 'window_ends_at', keptMs: 0 },
  { table: 'known_addresses', time: 'last_seen_at', keptMs: knownAddressMs },
] as const;

/** Deletes at most 10,000 expired rows of each table; a locked row is left to the next run. */
export const deleteExpired = async (database: Database, now: () => number): Promise<void> => {
  for (const { table, time, keptMs } of expiring) {
    await database.query(
      `DELETE FROM ${table} WHERE ctid IN (
         SELECT ctid FROM ${table} WHERE ${time} <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [new Date(now() - keptMs), sweepBatchSize],
    );
  }
};
