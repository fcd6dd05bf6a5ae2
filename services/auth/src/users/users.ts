import {
  ApiError,
  type EventPayloads,
  isUuid,
  type KnownUser,
  nobody,
  normalizeEmail,
  platformProject,
  type User,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity, IdentityProject } from '@backlot/identity';
import { createTellApp } from '@backlot/service';
import { type NotNull, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';
import { createBlockedAddresses } from './blocked-addresses.ts';
import { leaveAllGroups } from './hand-over.ts';
import {
  type Account,
  accountColumns,
  accountSql,
  presentBlock,
  presentRoleAndGroups,
  presentUser,
  requireAddress,
  roleAndGroupsSql,
  type UserRow,
  type UserValues,
  userColumns,
} from './user-row.ts';

export interface Block {
  reason: string | null;
  /** Null: for good. */
  until: Date | null;
}

export interface UserChanges {
  email?: string | undefined;
  name?: string | null | undefined;
  avatar?: string | null | undefined;
  profile?: Record<string, unknown> | undefined;
  publicProfile?: Record<string, unknown> | undefined;
  role?: string | undefined;
  emailVerified?: boolean | undefined;
  /** Null ends one. */
  block?: Block | null | undefined;
}

/** Who calls with a live session. */
export interface SignedIn {
  user: UserRow;
  sessionId: string;
  /** Their sign-in has shown two factors. */
  hasSecondFactor: boolean;
  /** Since they showed that the account is theirs: at the sign-in, or later. */
  provenMsAgo: number;
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
  const blockedAddresses = createBlockedAddresses(database, now);
  const tellApp = createTellApp(outbox, now);
  const accounts = (project: number, id: string) =>
    queries
      .selectFrom('users')
      .select(accountColumns)
      .$narrowType<UserValues>()
      .where('project_number', '=', project)
      .where('id', '=', id);

  const tell = (
    projectNumber: number,
    type: 'user.created' | 'user.verified' | 'user.erased',
    { id, email, name }: Pick<UserRow, 'id' | 'email' | 'name'>,
  ) =>
    tellApp({
      projectNumber,
      type,
      orderKey: `user/${id}`,
      data: { userId: id, ...(type !== 'user.erased' && { email, name }) },
      userId: type === 'user.erased' ? null : id,
    });

  const publishVerified = (project: number, { id, email }: { id: string; email: string }) =>
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

  const tellCreated = (project: number, account: Account) => tell(project, 'user.created', account);

  const publishChange = (project: number, userIds: string[]) =>
    outbox.append('user.changed', { projectNumber: project, userIds });

  const find = (project: number, id: string): Promise<Account | undefined> =>
    accounts(project, id).executeTakeFirst();

  /**
   * Locks the account until the surrounding transaction ends. Whatever changes several rows of one
   * account takes this lock first, so that such changes never deadlock.
   */
  const lock = (project: number, id: string): Promise<Account | undefined> =>
    accounts(project, id).forNoKeyUpdate().executeTakeFirst();

  return {
    find,
    lock,

    /** As `lock`, which knows factors and passkeys only as they were when it began to wait. */
    async lockAndRead(project: number, id: string): Promise<Account | undefined> {
      return (await lock(project, id)) && find(project, id);
    },

    /** Whether an account of this address was erased while it was blocked. */
    isAddressBlocked: blockedAddresses.has,

    present: (row: UserRow): User => presentUser(row, now()),

    /** An account as `add` stores it. */
    create(user: {
      /** Null: a guest. */
      email: string | null;
      name: string | null;
      /** Null: no password opens it. */
      passwordHash: string | null;
      emailVerified: boolean;
    }): Account {
      const at = new Date(now());
      return {
        id: uuidv7(),
        email: user.email,
        name: user.name,
        avatar: null,
        profile: {},
        public_profile: {},
        role: 'user',
        email_verified: user.emailVerified,
        is_guest: user.email === null,
        created_at: at,
        updated_at: at,
        password_hash: user.passwordHash,
        blocked_at: null,
        blocked_until: null,
        block_reason: null,
        password_version: 1,
        has_totp: false,
        has_passkey: false,
        ip_known: false,
      };
    },

    /** Belongs into a transaction. @throws ApiError email_taken */
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
          is_guest: account.is_guest,
          created_at: account.created_at,
          updated_at: account.updated_at,
        })
        .onConflict((conflict) => conflict.constraint('users_email').doNothing())
        .executeTakeFirstOrThrow();
      if (added === 0n) throw emailTaken();
      if (!account.is_guest) await tellCreated(project, account);
    },

    tellCreated,
    publishChange,

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
        `SELECT ${accountSql},
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
        .$narrowType<{ email: NotNull }>()
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

    /** Null where there is no such user. */
    async findRoleAndGroups(project: number, id: string): Promise<KnownUser | null> {
      const [row] = await database.read(
        'find_role_and_groups',
        `SELECT ${roleAndGroupsSql},
                (u.blocked_at IS NOT NULL AND (u.blocked_until IS NULL OR u.blocked_until > $3))::text
           FROM users u WHERE u.project_number = $1 AND u.id = $2`,
        [project, id, new Date(now())],
      );
      return row ? { ...presentRoleAndGroups(row), isBlocked: row[3] === 'true' } : null;
    },

    /** The user who calls, with the session, which must be live. @throws ApiError invalid_token */
    async findBySession({ project, userId, sessionId }: Identity): Promise<SignedIn> {
      const [row] = await database.named<UserRow & { has_second_factor: boolean; proven_at: Date }>(
        'find_user_by_session',
        `SELECT ${userColumns.map((column) => `u.${column}`).join(', ')}, s.has_second_factor,
                coalesce(s.proven_at, s.created_at) AS proven_at
           FROM users u JOIN sessions s ON s.project_number = $1 AND s.user_id = u.id
          WHERE u.project_number = $1 AND u.id = $2 AND s.id = $3 AND s.expires_at > $4`,
        [project.number, userId, sessionId, new Date(now())],
      );
      if (!row || !sessionId) throw sessionEnded();
      const { has_second_factor: hasSecondFactor, proven_at: provenAt, ...user } = row;
      return { user, sessionId, hasSecondFactor, provenMsAgo: now() - provenAt.getTime() };
    },

    /** @throws ApiError not_found, email_taken */
    update: (project: number, id: string, changes: UserChanges): Promise<UserRow> =>
      database.transaction(async () => {
        if (!isUuid(id)) throw unknownUser();
        const { email, name, avatar, profile, publicProfile, role, emailVerified, block } = changes;
        const {
          was_verified: wasVerified,
          old_email: oldEmail,
          ...row
        } = await queries
          .updateTable('users')
          .set({
            ...(email !== undefined && { email }),
            ...(name !== undefined && { name }),
            ...(avatar !== undefined && { avatar }),
            ...(profile !== undefined && { profile: JSON.stringify(profile) }),
            ...(publicProfile !== undefined && { public_profile: JSON.stringify(publicProfile) }),
            ...(role !== undefined && { role }),
            ...(emailVerified !== undefined && { email_verified: emailVerified }),
            ...(block !== undefined && {
              blocked_at: block && new Date(now()),
              blocked_until: block?.until ?? null,
              block_reason: block?.reason ?? null,
            }),
            updated_at: new Date(now()),
          })
          .where('project_number', '=', project)
          .where('id', '=', id)
          .returning(userColumns)
          .returning([
            sql<boolean>`old.email_verified`.as('was_verified'),
            sql<string | null>`old.email`.as('old_email'),
          ])
          .$narrowType<UserValues>()
          .executeTakeFirstOrThrow(unknownUser)
          .catch((error: unknown) => {
            throw isEmailTaken(error) ? emailTaken() : error;
          });
        if (role !== undefined || block !== undefined || emailVerified === false)
          await publishChange(project, [id]);
        if (project === platformProject.number && emailVerified)
          await outbox.append('owner.verified', { ownerId: id });
        else if (emailVerified) {
          await publishVerified(project, { id, email: requireAddress(row) });
          if (!wasVerified || oldEmail !== row.email) await tell(project, 'user.verified', row);
        } else if (emailVerified === false && row.email !== null)
          await tellReleased(project, row.email);
        return row;
      }),

    /** Everything of the account goes with it. @throws ApiError not_found */
    async erase(project: Pick<IdentityProject, 'id' | 'number'>, id: string): Promise<void> {
      await database.transaction(async () => {
        if (!isUuid(id)) throw unknownUser();
        const locked = await queries
          .selectFrom('users')
          .select(['email', 'email_verified', 'blocked_at', 'blocked_until', 'block_reason'])
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
        if (locked.email !== null && presentBlock(locked, now()))
          await blockedAddresses.keep(project.number, locked.email, locked.blocked_until);
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
        if (locked.email !== null)
          await tell(project.number, 'user.erased', { id, email: locked.email, name: null });
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
