import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import type { Account } from './user-row.ts';
import type { Users } from './users.ts';

/** What opens an account, or helps to, beside its sessions and its password. */
const credentialTables = [
  'known_addresses',
  'known_devices',
  'identities',
  'passkeys',
  'factors',
  'recovery_codes',
  'factor_tokens',
  'remembered_devices',
] as const;

interface AddressProofOptions {
  database: Database;
  users: Users;
  sessions: { endAll(project: number, userId: string): Promise<void> };
  now: () => number;
}

/**
 * The one place that knows what follows once an address is shown to be of whoever holds an account: anybody
 * can make an account with an address that is not theirs, and wait for the one who has it.
 */
export const createProveAddress = ({ database, users, sessions, now }: AddressProofOptions) => {
  const queries = createQueries<Tables>(database);

  const end = async (
    table: (typeof credentialTables)[number] | 'email_changes',
    project: number,
    userId: string,
  ): Promise<void> => {
    await queries
      .deleteFrom(table)
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .execute();
  };

  /**
   * Ends all that opens the account. Belongs into a transaction that has locked it.
   * @returns the account as it is now
   */
  const endCredentials = async (project: number, account: Account): Promise<Account> => {
    await sessions.endAll(project, account.id);
    for (const table of credentialTables) await end(table, project, account.id);
    const changed = { password_hash: null, password_version: account.password_version + 1 };
    await queries
      .updateTable('users')
      .set({ ...changed, updated_at: new Date(now()) })
      .where('project_number', '=', project)
      .where('id', '=', account.id)
      .execute();
    return { ...account, ...changed, has_totp: false, has_passkey: false };
  };

  return {
    endCredentials,

    /**
     * The address counts as verified. Where it did not before, all that opens the account ends, unless the
     * proof is of whoever has the account too. Belongs into a transaction that has locked the account.
     */
    async prove(
      project: number,
      account: Account,
      { isOwn }: { isOwn: boolean },
    ): Promise<{ account: Account; isHandedOver: boolean }> {
      const verified = await users.update(project, account.id, { emailVerified: true });
      const isHandedOver = !account.email_verified && !isOwn;
      const proven = { ...account, ...verified };
      if (!isHandedOver) return { account: proven, isHandedOver };
      await end('email_changes', project, account.id);
      return { account: await endCredentials(project, proven), isHandedOver };
    },
  };
};

export type ProveAddress = ReturnType<typeof createProveAddress>;
