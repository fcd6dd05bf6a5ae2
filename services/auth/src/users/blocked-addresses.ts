import { hash } from 'node:crypto';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';

/** Nothing else is kept of the account. */
const maxMs = 365 * 24 * 3_600_000;

const hashAddress = (email: string) => hash('sha256', `blocked ${email}`, 'buffer');

/** Addresses of accounts that were erased while they were blocked: to erase one must not end its block. */
export type BlockedAddresses = ReturnType<typeof createBlockedAddresses>;

export const createBlockedAddresses = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    /** Until the block ends, a year at most. Belongs into the transaction that erases the account. */
    async keep(project: number, email: string, until: Date | null): Promise<void> {
      const latest = new Date(now() + maxMs);
      const change = { expires_at: until !== null && until < latest ? until : latest };
      await queries
        .insertInto('blocked_addresses')
        .values({ project_number: project, address: hashAddress(email), ...change })
        .onConflict((conflict) =>
          conflict.columns(['project_number', 'address']).doUpdateSet(change),
        )
        .execute();
    },

    async has(project: number, email: string): Promise<boolean> {
      const row = await queries
        .selectFrom('blocked_addresses')
        .select('expires_at')
        .where('project_number', '=', project)
        .where('address', '=', hashAddress(email))
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirst();
      return row !== undefined;
    },
  };
};
