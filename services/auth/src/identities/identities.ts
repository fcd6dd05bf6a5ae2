import { ApiError, isUuid, oauthRoutes } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Identity as IdentityTable, DB as Tables } from '../tables.ts';

export type IdentityRow = Selectable<IdentityTable>;

/** An account elsewhere, whoever it is linked to here. */
export interface ElsewhereAccount {
  provider: string;
  label: string;
  issuer: string;
  subject: string;
  email: string | null;
}

const taken = () =>
  new ApiError('conflict', 'Somebody else signs in here with this account elsewhere.');
const notLinked = () => new ApiError('not_found', 'You have no such linked account.');

export const presentIdentity = (row: IdentityRow) => ({
  id: row.id,
  provider: row.provider,
  label: row.label,
  issuer: row.issuer,
  email: row.email,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at.toISOString(),
});

/** Accounts elsewhere with which users sign in here: issuer and subject, never an address. */
export const createIdentities = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  const ofUser = (project: number, userId: string) =>
    queries
      .selectFrom('identities')
      .selectAll()
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .orderBy('id')
      .limit(oauthRoutes.maxIdentities);

  return {
    list: (project: number, userId: string): Promise<IdentityRow[]> =>
      ofUser(project, userId).execute(),

    async find(
      project: number,
      { issuer, subject }: Pick<ElsewhereAccount, 'issuer' | 'subject'>,
    ): Promise<IdentityRow | undefined> {
      return queries
        .selectFrom('identities')
        .selectAll()
        .where('project_number', '=', project)
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst();
    },

    /** Until the surrounding transaction ends nobody else signs in with it: the first time it has no row to lock. */
    async lock(
      project: number,
      { issuer, subject }: Pick<ElsewhereAccount, 'issuer' | 'subject'>,
    ): Promise<void> {
      await database.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        JSON.stringify(['identity', project, issuer, subject]),
      ]);
    },

    /** Belongs into a transaction that has locked the account. @throws ApiError conflict, limit_reached */
    async add(project: number, userId: string, account: ElsewhereAccount): Promise<IdentityRow> {
      const others = await ofUser(project, userId).execute();
      if (others.length >= oauthRoutes.maxIdentities)
        throw new ApiError(
          'limit_reached',
          `A user has at most ${oauthRoutes.maxIdentities} linked accounts.`,
        );
      const at = new Date(now());
      const { provider, label, issuer, subject, email } = account;
      const row: IdentityRow = {
        project_number: project,
        id: uuidv7(),
        user_id: userId,
        provider,
        label,
        issuer,
        subject,
        email,
        created_at: at,
        last_used_at: at,
      };
      await queries
        .insertInto('identities')
        .values(row)
        .execute()
        .catch((error: unknown) => {
          throw violatedConstraint(error) === 'identities_subject' ? taken() : error;
        });
      return row;
    },

    /** False where it is linked no more. */
    async noteUse(row: IdentityRow, email: string | null): Promise<boolean> {
      const { numUpdatedRows } = await queries
        .updateTable('identities')
        .set({ last_used_at: new Date(now()), email })
        .where('project_number', '=', row.project_number)
        .where('id', '=', row.id)
        .where('user_id', '=', row.user_id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** @throws ApiError not_found */
    async remove(project: number, userId: string, id: string): Promise<IdentityRow> {
      if (!isUuid(id)) throw notLinked();
      return queries
        .deleteFrom('identities')
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(notLinked);
    },
  };
};

export type Identities = ReturnType<typeof createIdentities>;
