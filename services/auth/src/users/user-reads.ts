import { type KnownUser, normalizeEmail } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { NotNull } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import { emailTaken, sessionEnded } from './refusals.ts';
import {
  type Account,
  accountColumns,
  accountSql,
  presentRoleAndGroups,
  roleAndGroupsSql,
  type UserRow,
  type UserValues,
  userColumns,
} from './user-row.ts';

/** Who calls with a live session. */
export interface SignedIn {
  user: UserRow;
  sessionId: string;
  /** Their sign-in has shown two factors. */
  hasSecondFactor: boolean;
  /** Since they showed that the account is theirs: at the sign-in, or later. */
  provenMsAgo: number;
}

export const createUserReads = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  const accounts = (project: number, id: string) =>
    queries
      .selectFrom('users')
      .select(accountColumns)
      .$narrowType<UserValues>()
      .where('project_number', '=', project)
      .where('id', '=', id);

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

    /** Who has shown that the address is theirs. */
    async findHolder(project: number, email: string): Promise<string | null> {
      const user = await queries
        .selectFrom('users')
        .select('id')
        .where('project_number', '=', project)
        .where('email', '=', normalizeEmail(email))
        .where('email_verified', '=', true)
        .executeTakeFirst();
      return user?.id ?? null;
    },

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
  };
};
