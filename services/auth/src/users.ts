import { ApiError, type User } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import type { Events } from './events.ts';

export interface UserRow {
  id: string;
  email: string;
  name: string | null;
  role: string;
  email_verified: boolean;
  created_at: Date;
  updated_at: Date;
}

/** What signing in needs to know of a user. */
export interface Account extends UserRow {
  password_hash: string;
  password_version: number;
  /** Whether this account has signed in from the asking address before. */
  address_known: boolean;
}

export interface UserChanges {
  name?: string | null | undefined;
  role?: string | undefined;
  emailVerified?: boolean | undefined;
}

interface Tenant {
  id: string;
  number: number;
}

/** Columns of UserRow. */
const userColumns = 'id, email, name, role, email_verified, created_at, updated_at';
const accountColumns = `${userColumns}, password_hash, password_version, false AS address_known`;

export const presentUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  emailVerified: row.email_verified,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** As sign-up stores it. What can't be an address (PostgreSQL refuses NUL) becomes '', which nobody has. */
export const normalizeEmail = (email: string): string =>
  email.includes('\0') ? '' : email.trim().toLowerCase();

const isUuid = (id: string) => z.uuid().safeParse(id).success;
const cursorPrefix = 'u1:';
const cursorOf = (id: string) => Buffer.from(cursorPrefix + id).toString('base64url');

const idOfCursor = (cursor: string): string => {
  const text = Buffer.from(cursor, 'base64url').toString();
  const id = text.slice(cursorPrefix.length);
  if (!isUuid(id) || cursorOf(id) !== cursor)
    throw new ApiError('invalid_cursor', 'This cursor is none of ours.');
  return id;
};

export const unknownUser = () => new ApiError('not_found', 'There is no such user.');

const emailTaken = () =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.');

export const sessionEnded = () =>
  new ApiError('invalid_token', 'This session has ended. Sign in again.');

export const createUsers = (database: Database, events: Events, now: () => number) => ({
  /** @throws ApiError email_taken */
  async add(
    project: number,
    user: { email: string; name: string | null; passwordHash: string; emailVerified: boolean },
  ) {
    const [row] = await database.query<Account>(
      `INSERT INTO users (project_number, id, email, name, password_hash, email_verified, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
       ON CONFLICT ON CONSTRAINT users_email DO NOTHING
       RETURNING ${accountColumns}`,
      [
        project,
        uuidv7(),
        user.email,
        user.name,
        user.passwordHash,
        user.emailVerified,
        new Date(now()),
      ],
    );
    if (!row) throw emailTaken();
    return row;
  },

  /** Spares the hash where `add` would fail anyway. @throws ApiError email_taken */
  async refuseTaken(project: number, email: string): Promise<void> {
    const rows = await database.query(
      'SELECT FROM users WHERE project_number = $1 AND email = $2',
      [project, email],
    );
    if (rows.length > 0) throw emailTaken();
  },

  /** @param address SHA-256 of the asking address. */
  async findByEmail(project: number, email: string, address: Buffer): Promise<Account | undefined> {
    const [account] = await database.named<Account>(
      'account_by_email',
      `SELECT ${userColumns}, password_hash, password_version,
              EXISTS (SELECT FROM known_addresses k
                       WHERE k.project_number = $1 AND k.user_id = users.id AND k.address = $3) AS address_known
         FROM users WHERE project_number = $1 AND email = $2`,
      [project, email, address],
    );
    return account;
  },

  /** Which of these addresses have an account. */
  async registered(project: number, emails: readonly string[]): Promise<string[]> {
    const rows = await database.query<{ email: string }>(
      'SELECT email FROM users WHERE project_number = $1 AND email = ANY($2)',
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

  /** The user who calls, with the session, which must live. @throws ApiError invalid_token */
  async ofSession({
    project,
    userId,
    sessionId,
  }: Identity): Promise<{ user: UserRow; sessionId: string }> {
    const [row] = await database.named<UserRow>(
      'user_of_session',
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
  async update(project: number, id: string, changes: UserChanges): Promise<UserRow> {
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
    return row;
  },

  /** Newest first. @throws ApiError invalid_cursor */
  async list(project: number, { limit, cursor }: { limit: number; cursor?: string | undefined }) {
    const before = cursor === undefined ? null : idOfCursor(cursor);
    if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
    const rows = await database.query<UserRow>(
      `SELECT ${userColumns} FROM users
        WHERE project_number = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
      [project, before, limit + 1],
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit;
    return {
      items: page.map(presentUser),
      hasMore,
      nextCursor: hasMore && last ? cursorOf(last.id) : null,
    };
  },

  /**
   * Locks the account until the surrounding transaction ends. Whatever changes several rows of one
   * account takes this lock first, so that such changes never wait for each other in a circle.
   */
  async lock(project: number, id: string): Promise<Account | undefined> {
    const [account] = await database.query<Account>(
      `SELECT ${accountColumns} FROM users WHERE project_number = $1 AND id = $2 FOR NO KEY UPDATE`,
      [project, id],
    );
    return account;
  },

  /** Everything of the account goes with it. @throws ApiError not_found */
  async erase(project: Tenant, id: string): Promise<void> {
    await database.transaction(async () => {
      const [locked] = isUuid(id)
        ? await database.query<{ email: string }>(
            'SELECT email FROM users WHERE project_number = $1 AND id = $2 FOR UPDATE',
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
        await events.emit('session.revoked', { projectNumber: project.number, sessionIds });
      await events.emit('user.erased', {
        projectId: project.id,
        projectNumber: project.number,
        userId: id,
        email: locked.email,
      });
    });
  },
});

export type Users = ReturnType<typeof createUsers>;
