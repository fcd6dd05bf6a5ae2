import { ApiError, type EventPayloads, isUuid, platformProject } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { presentPage, readPosition } from '@backlot/http';
import type { Identity, IdentityProject } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import {
  type Account,
  accountColumns,
  normalizeEmail,
  presentUser,
  type UserRow,
  userColumns,
} from './user-row.ts';

export interface UserChanges {
  name?: string | null | undefined;
  role?: string | undefined;
  emailVerified?: boolean | undefined;
}

const unknownUser = () => new ApiError('not_found', 'There is no such user.');

const emailTaken = () =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.');

export const sessionEnded = () =>
  new ApiError('invalid_token', 'This session has ended. Sign in again.');

export const createUsers = (
  database: Database,
  outbox: Outbox<EventPayloads>,
  now: () => number,
) => ({
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
    const added = await database.query(
      `INSERT INTO users (project_number, id, email, name, role, password_hash, email_verified, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
       ON CONFLICT ON CONSTRAINT users_email DO NOTHING
       RETURNING id`,
      [
        project,
        account.id,
        account.email,
        account.name,
        account.role,
        account.password_hash,
        account.email_verified,
        account.created_at,
      ],
    );
    if (added.length === 0) throw emailTaken();
  },

  /** Before the hash, which `add` would throw away. @throws ApiError email_taken */
  async checkEmailFree(project: number, email: string): Promise<void> {
    const rows = await database.query(
      'SELECT FROM users WHERE project_number = $1 AND email = $2',
      [project, email],
    );
    if (rows.length > 0) throw emailTaken();
  },

  async findByEmail(project: number, email: string, ipHash: Buffer): Promise<Account | undefined> {
    const [account] = await database.named<Account>(
      'find_account_by_email',
      `SELECT ${userColumns}, password_hash, password_version,
              EXISTS (SELECT FROM known_addresses k
                       WHERE k.project_number = $1 AND k.user_id = users.id AND k.address = $3) AS ip_known
         FROM users WHERE project_number = $1 AND email = $2`,
      [project, email, ipHash],
    );
    return account;
  },

  /** Which of these addresses have an account that has verified them. */
  async registered(project: number, emails: readonly string[]): Promise<string[]> {
    const rows = await database.query<{ email: string }>(
      'SELECT email FROM users WHERE project_number = $1 AND email = ANY($2) AND email_verified',
      [project, emails.map(normalizeEmail)],
    );
    return rows.map(({ email }) => email);
  },

  async find(project: number, id: string): Promise<Account | undefined> {
    const [account] = await database.query<Account>(
      `SELECT ${accountColumns} FROM users WHERE project_number = $1 AND id = $2`,
      [project, id],
    );
    return account;
  },

  /** The user who calls, with the session, which must be live. @throws ApiError invalid_token */
  async findBySession({
    project,
    userId,
    sessionId,
  }: Identity): Promise<{ user: UserRow; sessionId: string }> {
    const [row] = await database.named<UserRow>(
      'find_user_by_session',
      `SELECT ${userColumns} FROM users u
        WHERE project_number = $1 AND id = $2
          AND EXISTS (SELECT FROM sessions s
                       WHERE s.project_number = $1 AND s.id = $3 AND s.user_id = u.id AND s.expires_at > $4)`,
      [project.number, userId, sessionId, new Date(now())],
    );
    if (!row || !sessionId) throw sessionEnded();
    return { user: row, sessionId };
  },

  /** @throws ApiError not_found */
  update: (project: number, id: string, changes: UserChanges): Promise<UserRow> =>
    database.transaction(async () => {
      const [row] = isUuid(id)
        ? await database.query<UserRow>(
            `UPDATE users SET name = CASE WHEN $3 THEN $4 ELSE name END,
                    role = coalesce($5, role), email_verified = coalesce($6, email_verified), updated_at = $7
              WHERE project_number = $1 AND id = $2 RETURNING ${userColumns}`,
            [
              project,
              id,
              changes.name !== undefined,
              changes.name ?? null,
              changes.role ?? null,
              changes.emailVerified ?? null,
              new Date(now()),
            ],
          )
        : [];
      if (!row) throw unknownUser();
      if (project === platformProject.number && changes.emailVerified)
        await outbox.append('owner.verified', { ownerId: id });
      return row;
    }),

  /** Newest first. @throws ApiError invalid_cursor */
  async list(project: number, { limit, cursor }: { limit: number; cursor?: string | undefined }) {
    const before = readPosition('users', cursor);
    if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
    const rows = await database.query<UserRow>(
      `SELECT ${userColumns} FROM users
        WHERE project_number = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
      [project, before?.id ?? null, limit + 1],
    );
    return presentPage('users', { limit, cursor }, rows, presentUser);
  },

  /**
   * Locks the account until the surrounding transaction ends. Whatever changes several rows of one
   * account takes this lock first, so that such changes never deadlock.
   */
  async lock(project: number, id: string): Promise<Account | undefined> {
    const [account] = await database.query<Account>(
      `SELECT ${accountColumns} FROM users WHERE project_number = $1 AND id = $2 FOR NO KEY UPDATE`,
      [project, id],
    );
    return account;
  },

  /** Everything of the account goes with it. @throws ApiError not_found */
  async erase(project: Pick<IdentityProject, 'id' | 'number'>, id: string): Promise<void> {
    await database.transaction(async () => {
      const [locked] = isUuid(id)
        ? await database.query<{ email: string; email_verified: boolean }>(
            'SELECT email, email_verified FROM users WHERE project_number = $1 AND id = $2 FOR UPDATE',
            [project.number, id],
          )
        : [];
      if (!locked) throw unknownUser();
      const sessions = await database.query<{ id: string }>(
        'DELETE FROM sessions WHERE project_number = $1 AND user_id = $2 RETURNING id',
        [project.number, id],
      );
      await database.query('DELETE FROM users WHERE project_number = $1 AND id = $2', [
        project.number,
        id,
      ]);
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
});

export type Users = ReturnType<typeof createUsers>;
