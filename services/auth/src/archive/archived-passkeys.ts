import type { ArchivedUser } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import { invalidArchive } from '@backlot/service';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';

type Archived = NonNullable<ArchivedUser['passkeys']>;

/** The public halves of users' passkeys, as lines of an archive have them. */
export const createArchivedPasskeys = (database: Database) => {
  const queries = createQueries<Tables>(database);
  return {
    /** By the user's id; of those who have some. */
    async read(project: number, userIds: readonly string[]): Promise<Map<string, Archived>> {
      const rows = await queries
        .selectFrom('passkeys')
        .selectAll()
        .where('project_number', '=', project)
        .where(({ eb, fn, val }) => eb('user_id', '=', fn.any(val(userIds))))
        .orderBy('id')
        .execute();
      const byUser = new Map<string, Archived>();
      for (const row of rows) {
        const own = byUser.get(row.user_id) ?? [];
        own.push({
          credentialId: row.credential_id.toString('base64url'),
          publicKey: row.public_key.toString('base64url'),
          counter: Number(row.counter),
          transports: row.transports,
          host: row.host,
          name: row.name,
          createdAt: row.created_at.toISOString(),
        });
        byUser.set(row.user_id, own);
      }
      return byUser;
    },

    /** Belongs into the transaction that takes their users. @throws what an invalid archive throws */
    async take(project: number, users: readonly ArchivedUser[]): Promise<void> {
      const rows = users.flatMap(({ id, passkeys = [] }) =>
        passkeys.map(({ credentialId, publicKey, createdAt, ...passkey }) => ({
          ...passkey,
          project_number: project,
          id: uuidv7(),
          user_id: id,
          credential_id: Buffer.from(credentialId, 'base64url'),
          public_key: Buffer.from(publicKey, 'base64url'),
          created_at: new Date(createdAt),
        })),
      );
      if (rows.length === 0) return;
      await queries
        .insertInto('passkeys')
        .values(rows)
        .execute()
        .catch((error: unknown) => {
          if (violatedConstraint(error) !== 'passkeys_credential') throw error;
          throw invalidArchive('two users have one passkey');
        });
    },
  };
};
