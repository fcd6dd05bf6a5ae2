import { createQueries, type Database } from '@backlot/database';
import { digestToken, newToken } from '../links/links.ts';
import type { DB as Tables } from '../tables.ts';
import type { Account } from '../users/user-row.ts';

const rememberedMs = 30 * 86_400_000;
const maxDevices = 20;

/** Devices on which a user is asked for no code, for 30 days and until the password changes. */
export const createRememberedDevices = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    newToken,

    /** The oldest past the limit are forgotten. Belongs into the transaction of the sign-in. */
    async store(
      project: number,
      { id, password_version }: Pick<Account, 'id' | 'password_version'>,
      token: string,
    ): Promise<void> {
      await queries
        .insertInto('remembered_devices')
        .values({
          project_number: project,
          token_hash: digestToken(token),
          user_id: id,
          password_version,
          created_at: new Date(now()),
          expires_at: new Date(now() + rememberedMs),
        })
        .execute();
      await database.query(
        `DELETE FROM remembered_devices WHERE project_number = $1 AND token_hash IN (
           SELECT token_hash FROM remembered_devices WHERE project_number = $1 AND user_id = $2
            ORDER BY created_at DESC, token_hash OFFSET $3)`,
        [project, id, maxDevices],
      );
    },

    async isRemembered(
      project: number,
      { id, password_version }: Pick<Account, 'id' | 'password_version'>,
      token: string,
    ): Promise<boolean> {
      const found = await queries
        .selectFrom('remembered_devices')
        .select('user_id')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('user_id', '=', id)
        .where('password_version', '=', password_version)
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirst();
      return found !== undefined;
    },
  };
};

export type RememberedDevices = ReturnType<typeof createRememberedDevices>;
