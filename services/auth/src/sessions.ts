import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import type { Events } from './events.ts';
import { type Account, sessionEnded, type Users } from './users.ts';

export interface Session {
  id: string;
  userId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

interface SessionOptions {
  database: Database;
  events: Events;
  users: Users;
  now: () => number;
  sessionMs: number;
  maxSessionsPerUser: number;
}

/** Addresses remembered per account. */
const maxKnownAddresses = 20;

export const createSessions = ({
  database,
  events,
  users,
  now,
  sessionMs,
  maxSessionsPerUser,
}: SessionOptions) => {
  const announce = async (project: number, rows: { id: string }[]) => {
    if (rows.length === 0) return;
    await events.emit('session.revoked', {
      projectNumber: project,
      sessionIds: rows.map((row) => row.id),
    });
  };

  return {
    /**
     * Answers undefined when the account is gone or its password has changed since it was read, so
     * that a sign-in under way can't outlive a change of the password. The oldest sessions past the
     * limit end. The address becomes a known one.
     */
    start: (
      project: number,
      account: Pick<Account, 'id' | 'password_version'>,
      address: Buffer,
    ): Promise<Session | undefined> =>
      database.transaction(async () => {
        const locked = await users.lock(project, account.id);
        if (locked?.password_version !== account.password_version) return undefined;
        const session = { id: uuidv7(), userId: account.id, expiresAt: now() + sessionMs };
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
            address,
            maxKnownAddresses - 1,
            maxSessionsPerUser - 1,
          ],
        );
        await announce(project, ended);
        return session;
      }),

    /** Moves the end of a living session. @throws ApiError invalid_token when it has ended */
    async extend(project: number, id: string, userId: string): Promise<Session> {
      const expiresAt = now() + sessionMs;
      const rows = await database.query(
        `UPDATE sessions SET expires_at = $4
          WHERE project_number = $1 AND id = $2 AND user_id = $3 AND expires_at > $5 RETURNING id`,
        [project, id, userId, new Date(expiresAt), new Date(now())],
      );
      if (rows.length === 0) throw sessionEnded();
      return { id, userId, expiresAt };
    },

    end: (project: number, id: string): Promise<void> =>
      database.transaction(async () => {
        const ended = await database.query<{ id: string }>(
          'DELETE FROM sessions WHERE project_number = $1 AND id = $2 RETURNING id',
          [project, id],
        );
        await announce(project, ended);
      }),

    /** @param exceptId the session that stays. */
    endAll: (project: number, userId: string, exceptId?: string): Promise<void> =>
      database.transaction(async () => {
        await users.lock(project, userId);
        const ended = await database.query<{ id: string }>(
          `DELETE FROM sessions WHERE project_number = $1 AND user_id = $2 AND id IS DISTINCT FROM $3::uuid RETURNING id`,
          [project, userId, exceptId ?? null],
        );
        await announce(project, ended);
      }),

    /** An erased user's sessions went with the account. */
    async isLive(project: number, id: string): Promise<boolean> {
      const rows = await database.read(
        'session_is_live',
        'SELECT 1 FROM sessions WHERE project_number = $1 AND id = $2 AND expires_at > $3',
        [project, id, new Date(now())],
      );
      return rows.length > 0;
    },
  };
};

export type Sessions = ReturnType<typeof createSessions>;
