import type { ArchivedUser } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import { invalidArchive } from '@backlot/service';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';

type Archived = NonNullable<ArchivedUser['identities']>;

/** The accounts elsewhere of users, as lines of an archive have them. */
export const createArchivedIdentities = (database: Database) => {
  const queries = createQueries<Tables>(database);
  return {
    /** By the user's id; of those who have some. */
    async read(project: number, userIds: readonly string[]): Promise<Map<string, Archived>> {
      const rows = await queries
        .selectFrom('identities')
        .selectAll()
        .where('project_number', '=', project)
        .where(({ eb, fn, val }) => eb('user_id', '=', fn.any(val(userIds))))
        .orderBy('id')
        .execute();
      const byUser = new Map<string, Archived>();
      for (const row of rows) {
        const { provider, label, issuer, subject, email } = row;
        const createdAt = row.created_at.toISOString();
        const own = byUser.get(row.user_id) ?? [];
        byUser.set(row.user_id, [...own, { provider, label, issuer, subject, email, createdAt }]);
      }
      return byUser;
    },

    /** Belongs into the transaction that takes their users. @throws what an invalid archive throws */
    async take(project: number, users: readonly ArchivedUser[]): Promise<void> {
      const rows = users.flatMap(({ id, identities = [] }) =>
        identities.map(({ createdAt, ...identity }) => ({
          ...identity,
          project_number: project,
          id: uuidv7(),
          user_id: id,
          created_at: new Date(createdAt),
          last_used_at: new Date(createdAt),
        })),
      );
      if (rows.length === 0) return;
      await queries
        .insertInto('identities')
        .values(rows)
        .execute()
        .catch((error: unknown) => {
          if (violatedConstraint(error) !== 'identities_subject') throw error;
          throw invalidArchive('two users have one account elsewhere');
        });
    },
  };
};
