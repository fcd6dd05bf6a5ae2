import { ApiError } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import type { Identity, IdentityProject } from '@backlot/identity';
import type { Sessions } from '../sessions/sessions.ts';
import type { DB as Tables } from '../tables.ts';
import { sessionEnded } from '../users/refusals.ts';
import type { Account } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';

/** docs/limits.md */
const idleMs = 30 * 24 * 3_600_000;
/** Erased in one run of the sweep. */
const batchSize = 100;

interface GuestOptions {
  database: Database;
  users: Users;
  sessions: Pick<Sessions, 'endAll'>;
  now: () => number;
}

export const addressOfAnother = () =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.', {
    hint: 'Sign in to it, and send "merge" with the token of the guest: true makes what the guest has the account’s, false leaves the guest alone.',
  });

/** Users without an address. */
export const createGuests = ({ database, users, sessions, now }: GuestOptions) => {
  const queries = createQueries<Tables>(database);

  return {
    /** Belongs into a transaction. */
    async add(project: Pick<IdentityProject, 'id' | 'number'>, guest: Account): Promise<void> {
      await users.add(project.number, guest);
      await queries
        .insertInto('guests')
        .values({
          project_number: project.number,
          user_id: guest.id,
          project_id: project.id,
          last_seen_at: new Date(now()),
        })
        .execute();
    },

    /** The guest who calls, locked where a transaction is under way; undefined where nobody of the kind does. */
    async findCaller(identity: Identity): Promise<Account | undefined> {
      if (identity.caller !== 'user' || identity.userId === null) return undefined;
      const account = await users.lock(identity.project.number, identity.userId);
      if (!account?.is_guest) return undefined;
      await users.findBySession(identity);
      return account;
    },

    /**
     * Makes the guest a user, who keeps the id and all that is theirs. The guest's sessions end: nobody has shown
     * anything for them. Belongs into a transaction that has locked the guest. @throws ApiError email_taken, invalid_token
     */
    async upgrade(
      project: number,
      guest: Account,
      to: { email: string; name: string | null; passwordHash: string | null },
    ): Promise<Account> {
      const changed = {
        email: to.email,
        name: to.name ?? guest.name,
        password_hash: to.passwordHash,
        is_guest: false,
        updated_at: new Date(now()),
      };
      await database
        .transaction(async () => {
          await queries
            .updateTable('users')
            .set(changed)
            .where('project_number', '=', project)
            .where('id', '=', guest.id)
            .where('is_guest', '=', true)
            .returning('id')
            .executeTakeFirstOrThrow(sessionEnded);
        })
        .catch((error: unknown) => {
          throw violatedConstraint(error) === 'users_email' ? addressOfAnother() : error;
        });
      await queries
        .deleteFrom('guests')
        .where('project_number', '=', project)
        .where('user_id', '=', guest.id)
        .execute();
      await sessions.endAll(project, guest.id);
      const account = { ...guest, ...changed };
      await users.tellCreated(project, account);
      await users.publishChange(project, [guest.id]);
      return account;
    },

    /** A batch of those who were not here for 30 days, as accounts are erased. */
    async eraseIdle(): Promise<void> {
      const idle = await queries
        .selectFrom('guests')
        .select(['project_number', 'project_id', 'user_id'])
        .where('last_seen_at', '<', new Date(now() - idleMs))
        .orderBy('last_seen_at')
        .limit(batchSize)
        .execute();
      for (const { project_number: number, project_id: id, user_id: userId } of idle)
        await users.erase({ id, number }, userId).catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
        });
    },
  };
};

export type Guests = ReturnType<typeof createGuests>;
