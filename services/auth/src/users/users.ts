import {
  ApiError,
  type EventPayloads,
  isUuid,
  nobody,
  normalizeEmail,
  platformProject,
  type RoleAndGroups,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity, IdentityProject } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';
import { leaveAllGroups } from './hand-over.ts';
import {
  type Account,
  accountColumns,
  presentRoleAndGroups,
  roleAndGroupsSql,
  type UserRow,
  type UserValues,
  userColumns,
} from './user-row.ts';

export interface UserChanges {
  email?: string | undefined;
  name?: string | null | undefined;
  avatar?: string | null | undefined;
  profile?: Record<string, unknown> | undefined;
  role?: string | undefined;
  emailVerified?: boolean | undefined;
}

export const unknownUser = () => new ApiError('not_found', 'There is no such user.');

const emailTaken = () =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.');

const isEmailTaken = (error: unknown) =>
  (error as { constraint?: string }).constraint === 'users_email';

export const sessionEnded = () =>
  new ApiError('invalid_token', 'This session has ended. Sign in again.');

export const createUsers = (
  database: Database,
  outbox: Outbox<EventPayloads>,
  now: () => number,
) => {
  const queries = createQueries<Tables>(database);
  const accounts = (project: number, id: string) =>
    queries
      .selectFrom('users')
      .select(accountColumns)
      .$narrowType<UserValues>()
      .where('project_number', '=', project)
      .where('id', '=', id);

  const publishVerified = (project: number, { id, email }: Pick<UserRow, 'id' | 'email'>) =>
    outbox.append('user.verified', { projectNumber: project, userId: id, email });

  /** Who has shown that the address is theirs. */
  const findHolder = async (project: number, email: string): Promise<string | null> => {
    const user = await queries
      .selectFrom('users')
      .select('id')
      .where('project_number', '=', project)
      .where('email', '=', normalizeEmail(email))
      .where('email_verified', '=', true)
      .executeTakeFirst();
    return user?.id ?? null;
  };

  /** What was shared with the address is its former holder's no more. Belongs into the transaction of that. */
  const tellReleased = async (project: number, email: string): Promise<void> => {
    if (project !== platformProject.number) await publishVerified(project, { id: nobody, email });
  };

  const publishChange = (project: number, userIds: string[]) =>
    outbox.append('user.changed', { projectNumber: project, userIds });

  return {
    /** An account as `add` stores it. */
    create(user: {
      email: string;
      name: string | null;
      passwordHash: string;
      emailVerified: boolean;
    }): Account {
      const at = new Date(now());
      return {
        id: uuidv7(),
        email: user.email,
        name: user.name,
        avatar: null,
        profile: {},
        role: 'user',
        email_verified: user.emailVerified,
        created_at: at,
        updated_at: at,
        password_hash: user.passwordHash,
        password_version: 1,
        ip_known: false,
      };
    },

    /** @throws ApiError email_taken */
    async add(project: number, account: Account): Promise<void> {
      const { numInsertedOrUpdatedRows: added } = await queries
        .insertInto('users')
        .values({
          project_number: project,
          id: account.id,
          email: account.email,
          name: account.name,
          role: account.role,
          password_hash: account.password_hash,
          email_verified: account.email_verified,
          created_at: account.created_at,
          updated_at: account.updated_at,
        })
        .onConflict((conflict) => conflict.constraint('users_email').doNothing())
        .executeTakeFirstOrThrow();
      if (added === 0n) throw emailTaken();
    },

    /** Before the hash, which `add` would throw away. @throws ApiError email_taken */
    async checkEmailFree(project: number, email: string): Promise<void> {
      const user = await queries
        .selectFrom('users')
        .select('id')
        .where('project_number', '=', project)
        .where('email', '=', email)
        .executeTakeFirst();
      if (user) throw emailTaken();
    },

    async findByEmail(
      project: number,
      email: string,
      ipHash: Buffer,
    ): Promise<Account | undefined> {
      const [account] = await database.named<Account>(
        'find_account_by_email',
        `SELECT ${userColumns.join(', ')}, password_hash, password_version,
                EXISTS (SELECT FROM known_addresses k
                         WHERE k.project_number = $1 AND k.user_id = users.id AND k.address = $3) AS ip_known
           FROM users WHERE project_number = $1 AND email = $2`,
        [project, email, ipHash],
      );
      return account;
    },

    /** Which of these addresses have an account that has verified them. */
    async registered(project: number, emails: readonly string[]): Promise<string[]> {
      const rows = await queries
        .selectFrom('users')
        .select('email')
        .where('project_number', '=', project)
        .where(({ eb, fn, val }) => eb('email', '=', fn.any(val(emails.map(normalizeEmail)))))
        .where('email_verified', '=', true)
        .execute();
      return rows.map(({ email }) => email);
    },

    findHolder,

    /** Says once more whose verified address this is, if it is anybody's. */
    async tellVerified(project: number, email: string): Promise<void> {
      const id = await findHolder(project, email);
      if (id !== null) await publishVerified(project, { id, email });
    },

    tellReleased,

    async find(project: number, id: string): Promise<Account | undefined> {
      return accounts(project, id).executeTakeFirst();
    },

    /** Null where there is no such user. */
    async findRoleAndGroups(project: number, id: string): Promise<RoleAndGroups | null> {
      const [row] = await database.read(
        'find_role_and_groups',
        `SELECT ${roleAndGroupsSql} FROM users u WHERE u.project_number = $1 AND u.id = $2`,
        [project, id],
      );
      return row ? presentRoleAndGroups(row) : null;
    },

    /** The user who calls, with the session, which must be live. @throws ApiError invalid_token */
    async findBySession({
      project,
      userId,
      sessionId,
    }: Identity): Promise<{ user: UserRow; sessionId: string }> {
      const [row] = await database.named<UserRow>(
        'find_user_by_session',
        `SELECT ${userColumns.join(', ')} FROM users u
          WHERE project_number = $1 AND id = $2
            AND EXISTS (SELECT FROM sessions s
                         WHERE s.project_number = $1 AND s.id = $3 AND s.user_id = u.id AND s.expires_at > $4)`,
        [project.number, userId, sessionId, new Date(now())],
      );
      if (!row || !sessionId) throw sessionEnded();
      return { user: row, sessionId };
    },

    /** @throws ApiError not_found, email_taken */
    update: (project: number, id: string, changes: UserChanges): Promise<UserRow> =>
      database.transaction(async () => {
        if (!isUuid(id)) throw unknownUser();
        const { email, name, avatar, profile, role, emailVerified } = changes;
        const row = await queries
          .updateTable('users')
          .set({
            ...(email !== undefined && { email }),
            ...(name !== undefined && { name }),
            ...(avatar !== undefined && { avatar }),
            ...(profile !== undefined && { profile: JSON.stringify(profile) }),
            ...(role !== undefined && { role }),
            ...(emailVerified !== undefined && { email_verified: emailVerified }),
            updated_at: new Date(now()),
          })
          .where('project_number', '=', project)
          .where('id', '=', id)
          .returning(userColumns)
          .$narrowType<UserValues>()
          .executeTakeFirstOrThrow(unknownUser)
          .catch((error: unknown) => {
            throw isEmailTaken(error) ? emailTaken() : error;
          });
        if (role !== undefined) await publishChange(project, [id]);
        if (project === platformProject.number && emailVerified)
          await outbox.append('owner.verified', { ownerId: id });
        else if (emailVerified) await publishVerified(project, row);
        else if (emailVerified === false) await tellReleased(project, row.email);
        return row;
      }),

    /**
     * Locks the account until the surrounding transaction ends. Whatever changes several rows of one
     * account takes this lock first, so that such changes never deadlock.
     */
    async lock(project: number, id: string): Promise<Account | undefined> {
      return accounts(project, id).forNoKeyUpdate().executeTakeFirst();
    },

    /** Everything of the account goes with it. @throws ApiError not_found */
    async erase(project: Pick<IdentityProject, 'id' | 'number'>, id: string): Promise<void> {
      await database.transaction(async () => {
        if (!isUuid(id)) throw unknownUser();
        const locked = await queries
          .selectFrom('users')
          .select(['email', 'email_verified'])
          .where('project_number', '=', project.number)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirstOrThrow(unknownUser);
        const sessions = await queries
          .deleteFrom('sessions')
          .where('project_number', '=', project.number)
          .where('user_id', '=', id)
          .returning('id')
          .execute();
        const newOwners = await leaveAllGroups(database, project.number, id);
        await queries
          .deleteFrom('users')
          .where('project_number', '=', project.number)
          .where('id', '=', id)
          .execute();
        if (newOwners.length > 0) await publishChange(project.number, newOwners);
        const sessionIds = sessions.map((session) => session.id);
        if (sessionIds.length > 0)
          await outbox.append('session.revoked', { projectNumber: project.number, sessionIds });
        await outbox.append('user.erased', {
          projectId: project.id,
          projectNumber: project.number,
          userId: id,
          email: locked.email,
          emailVerified: locked.email_verified,
        });
      });
    },
  };
};

export type Users = ReturnType<typeof createUsers>;
