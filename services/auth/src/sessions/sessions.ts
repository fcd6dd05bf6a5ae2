import type { EventPayloads, SessionSnapshot } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import type { AuthConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';
import { type Account, presentRoleAndGroups, roleAndGroupsSql } from '../users/user-row.ts';
import { sessionEnded, type Users } from '../users/users.ts';

export interface Session {
  id: string;
  userId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

interface SessionOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  users: Users;
  now: () => number;
  config: Pick<AuthConfig, 'sessionMs' | 'maxSessionsPerUser'>;
}

/** IP addresses remembered per account. */
const maxKnownIps = 20;

export const createSessions = ({ database, outbox, users, now, config }: SessionOptions) => {
  const { sessionMs, maxSessionsPerUser } = config;
  const queries = createQueries<Tables>(database);

  const publishEnd = async (project: number, rows: { id: string }[]) => {
    if (rows.length === 0) return;
    await outbox.append('session.revoked', {
      projectNumber: project,
      sessionIds: rows.map((row) => row.id),
    });
  };

  return {
    /** A session that begins once `start` has stored it. */
    create: (userId: string): Session => ({
      id: uuidv7(),
      userId,
      expiresAt: now() + sessionMs,
    }),

    /**
     * Stores it; answers false when the account is gone or its password has changed since it was read,
     * so that a sign-in under way can't outlive a change of the password. The oldest sessions past the
     * limit end. The IP address becomes a known one.
     */
    start: (
      project: number,
      session: Session,
      account: Pick<Account, 'id' | 'password_version'>,
      ipHash: Buffer,
    ): Promise<boolean> =>
      database.transaction(async () => {
        const locked = await users.lock(project, account.id);
        if (locked?.password_version !== account.password_version) return false;
        const ended = await database.named<{ id: string }>(
          'start_session',
          `WITH added AS (
             INSERT INTO sessions (project_number, id, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
           ), known AS (
             INSERT INTO known_addresses (project_number, user_id, address, last_seen_at) VALUES ($1, $3, $6, $4)
             ON CONFLICT (project_number, user_id, address) DO UPDATE SET last_seen_at = excluded.last_seen_at
           ), forgotten AS (
             DELETE FROM known_addresses WHERE project_number = $1 AND user_id = $3 AND address IN (
               SELECT address FROM known_addresses WHERE project_number = $1 AND user_id = $3 AND address <> $6
                ORDER BY last_seen_at DESC OFFSET $7)
           )
           DELETE FROM sessions WHERE project_number = $1 AND id IN (
             SELECT id FROM sessions WHERE project_number = $1 AND user_id = $3 ORDER BY id DESC OFFSET $8)
           RETURNING id`,
          [
            project,
            session.id,
            account.id,
            new Date(now()),
            new Date(session.expiresAt),
            ipHash,
            maxKnownIps - 1,
            maxSessionsPerUser - 1,
          ],
        );
        await publishEnd(project, ended);
        return true;
      }),

    /** Moves the end of a living session. @throws ApiError invalid_token when it has ended */
    async extend(project: number, id: string, userId: string): Promise<Session> {
      const expiresAt = now() + sessionMs;
      const { numUpdatedRows } = await queries
        .updateTable('sessions')
        .set({ expires_at: new Date(expiresAt) })
        .where('project_number', '=', project)
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw sessionEnded();
      return { id, userId, expiresAt };
    },

    end: (project: number, id: string): Promise<void> =>
      database.transaction(async () => {
        const ended = await queries
          .deleteFrom('sessions')
          .where('project_number', '=', project)
          .where('id', '=', id)
          .returning('id')
          .execute();
        await publishEnd(project, ended);
      }),

    /** @param exceptId the session that stays. */
    endAll: (project: number, userId: string, exceptId?: string): Promise<void> =>
      database.transaction(async () => {
        await users.lock(project, userId);
        let sessions = queries
          .deleteFrom('sessions')
          .where('project_number', '=', project)
          .where('user_id', '=', userId)
          .returning('id');
        if (exceptId !== undefined) sessions = sessions.where('id', '<>', exceptId);
        await publishEnd(project, await sessions.execute());
      }),

    /** Null once it has ended; an erased user's sessions went with the account. */
    async find(project: number, id: string): Promise<SessionSnapshot | null> {
      const [row] = await database.read(
        'find_session',
        `SELECT ${roleAndGroupsSql}, u.email_verified::text
           FROM sessions s
           JOIN users u ON u.project_number = $1 AND u.id = s.user_id
          WHERE s.project_number = $1 AND s.id = $2 AND s.expires_at > $3`,
        [project, id, new Date(now())],
      );
      return row ? { ...presentRoleAndGroups(row), emailVerified: row[2] === 'true' } : null;
    },
  };
};

export type Sessions = ReturnType<typeof createSessions>;
