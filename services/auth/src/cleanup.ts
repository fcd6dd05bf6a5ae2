import { type Database, deleteExpired } from '@backlot/database';
import type { DB as Tables } from './tables.ts';

type TableColumn = {
  [Table in keyof Tables]: { table: Table; column: keyof Tables[Table] };
}[keyof Tables];

const eraseBatchSize = 500;
/** Longer than the week for which an invitation is good. */
const endedKeyMs = 8 * 24 * 3_600_000;
/** docs/limits.md */
const signInEventMs = 90 * 24 * 3_600_000;
/** An IP address not seen for as long is a new one. */
const knownAddressMs = 90 * 24 * 3_600_000;
/** Longer: a device that is told by mail as a new one has not been there for a year. */
const knownDeviceMs = 365 * 24 * 3_600_000;

const erased: TableColumn[] = [
  { table: 'users', column: 'id' },
  { table: 'groups', column: 'id' },
  { table: 'attempts', column: 'counter' },
  { table: 'one_time_tokens', column: 'token_hash' },
  { table: 'sign_in_codes', column: 'email' },
  { table: 'ended_keys', column: 'key_id' },
  { table: 'blocked_addresses', column: 'address' },
  { table: 'used_challenges', column: 'challenge' },
  { table: 'merges', column: 'guest_id' },
  { table: 'auth_providers', column: 'name' },
  { table: 'oauth_flows', column: 'state_hash' },
  { table: 'oauth_codes', column: 'code_hash' },
];

/** Erases all accounts of a project in short transactions; sessions and links go with their users, invitations with groups. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  for (const { table, column } of erased) {
    let deleted: unknown[];
    do {
      deleted = await database.query(
        `DELETE FROM ${table} WHERE project_number = $1 AND ${column} IN (
           SELECT ${column} FROM ${table} WHERE project_number = $1 ORDER BY ${column} LIMIT $2) RETURNING 1`,
        [projectNumber, eraseBatchSize],
      );
    } while (deleted.length === eraseBatchSize);
  }
};

const expiring: (TableColumn & { keptMs: number })[] = [
  { table: 'sessions', column: 'expires_at', keptMs: 0 },
  { table: 'one_time_tokens', column: 'expires_at', keptMs: 0 },
  { table: 'sign_in_codes', column: 'expires_at', keptMs: 0 },
  { table: 'email_changes', column: 'expires_at', keptMs: 0 },
  { table: 'used_challenges', column: 'expires_at', keptMs: 0 },
  { table: 'factors', column: 'expires_at', keptMs: 0 },
  { table: 'factor_tokens', column: 'expires_at', keptMs: 0 },
  { table: 'remembered_devices', column: 'expires_at', keptMs: 0 },
  { table: 'group_invites', column: 'expires_at', keptMs: 0 },
  { table: 'blocked_addresses', column: 'expires_at', keptMs: 0 },
  { table: 'oauth_flows', column: 'expires_at', keptMs: 0 },
  { table: 'oauth_codes', column: 'expires_at', keptMs: 0 },
  { table: 'handovers', column: 'expires_at', keptMs: 0 },
  { table: 'ended_keys', column: 'ended_at', keptMs: endedKeyMs },
  { table: 'attempts', column: 'window_ends_at', keptMs: 0 },
  { table: 'sign_in_events', column: 'last_at', keptMs: signInEventMs },
  { table: 'known_addresses', column: 'last_seen_at', keptMs: knownAddressMs },
  { table: 'known_devices', column: 'last_seen_at', keptMs: knownDeviceMs },
];

/** A batch of each table. */
export const sweepExpired = (database: Database, now: () => number) =>
  deleteExpired(
    database,
    expiring.map(({ table, column, keptMs }) => ({
      table,
      condition: `${column} <= $1`,
      values: [new Date(now() - keptMs)],
    })),
  );
