import type { EventPayloads, SessionSnapshot } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import type { AuthConfig } from '../config.ts';
import type { Place } from '../sign-in-events/place.ts';
import type { DB as Tables } from '../tables.ts';
import { sessionEnded } from '../users/refusals.ts';
import { type Account, presentRoleAndGroups, roleAndGroupsSql } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';
import { createSessionUses } from './session-uses.ts';

export interface Session {
  id: string;
  userId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Two factors were shown. */
  hasSecondFactor: boolean;
}

/** From where a session begins, and how. */
export interface SessionStart extends Place {
  ipHash: Buffer;
  method: string;
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
  const uses = createSessionUses(database, now);

  const publishEnd = async (project: number, rows: { id: string }[]) => {
    if (rows.length === 0) return;
    await outbox.append('session.revoked', {
      projectNumber: project,
      sessionIds: rows.map((row) => row.id),
    });
  };

  return {
    /** A session that begins once `start` has stored it. */
    create: (userId: string, { hasSecondFactor = false } = {}): Session => ({
      id: uuidv7(),
      userId,
      hasSecondFactor,
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
      { ipHash, device, network, method }: SessionStart,
    ): Promise<boolean> =>
      database.transaction(async () => {
        const locked = await users.lock(project, account.id);
        if (locked?.password_version !== account.password_version) return false;
        const ended = await database.named<{ id: string }>(
          'start_session',
          `WITH added AS (
             INSERT INTO sessions (project_number, id, user_id, created_at, expires_at, has_second_factor, device, network, method)
             VALUES ($1, $2, $3, $4, $5, $9, $10, $11, $12)
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
            session.hasSecondFactor,
            device,
            network,
            method,
          ],
        );
        await publishEnd(project, ended);
        return true;
      }),

    /** Moves the end of a living session. @throws ApiError invalid_token when it has ended */
    async extend(project: number, id: string, userId: string): Promise<Session> {
      const expiresAt = now() + sessionMs;
      const extended = await queries
        .updateTable('sessions')
        .set({ expires_at: new Date(expiresAt), last_used_at: new Date(now()) })
        .where('project_number', '=', project)
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('expires_at', '>', new Date(now()))
        .returning('has_second_factor')
        .executeTakeFirstOrThrow(sessionEnded);
      return { id, userId, expiresAt, hasSecondFactor: extended.has_second_factor };
    },

    /** Whoever has it has shown again that the account is theirs. */
    async prove(project: number, id: string): Promise<void> {
      await queries
        .updateTable('sessions')
        .set({ proven_at: new Date(now()) })
        .where('project_number', '=', project)
        .where('id', '=', id)
        .execute();
    },

    /** Answers whether there was such a one, of this user where one is named. */
    end: (project: number, id: string, userId?: string): Promise<boolean> =>
      database.transaction(async () => {
        let sessions = queries
          .deleteFrom('sessions')
          .where('project_number', '=', project)
          .where('id', '=', id)
          .returning('id');
        if (userId !== undefined) sessions = sessions.where('user_id', '=', userId);
        const ended = await sessions.execute();
        await publishEnd(project, ended);
        return ended.length > 0;
      }),

    /** Remembered devices are forgotten, too. @param exceptId the session that stays. */
    endAll: (project: number, userId: string, exceptId?: string): Promise<void> =>
      database.transaction(async () => {
        await users.lock(project, userId);
        let sessions = queries
          .deleteFrom('sessions')
          .where('project_number', '=', project)
          .where('user_id', '=', userId)
          .returning('id');
        if (exceptId !== undefined) sessions = sessions.where('id', '<>', exceptId);
        await queries
          .deleteFrom('remembered_devices')
          .where('project_number', '=', project)
          .where('user_id', '=', userId)
          .execute();
        await publishEnd(project, await sessions.execute());
      }),

    /** Of a user, newest first. */
    async list(project: number, userId: string) {
      const rows = await queries
        .selectFrom('sessions')
        .select(['id', 'created_at', 'expires_at', 'device', 'network', 'method', 'last_used_at'])
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('expires_at', '>', new Date(now()))
        .orderBy('id', 'desc')
        .limit(maxSessionsPerUser)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        device: row.device,
        network: row.network,
        method: row.method,
        createdAt: row.created_at.toISOString(),
        lastUsedAt: (row.last_used_at ?? row.created_at).toISOString(),
        expiresAt: row.expires_at.toISOString(),
      }));
    },

    /** When sessions were used, as far as `find` has seen. */
    writeUses: uses.write,

    /** Null once it has ended; an erased user's sessions went with the account. */
    async find(project: number, id: string): Promise<SessionSnapshot | null> {
      const [row] = await database.read(
        'find_session',
        `SELECT ${roleAndGroupsSql}, u.block_reason,
                CASE WHEN u.blocked_at IS NOT NULL AND (u.blocked_until IS NULL OR u.blocked_until > $3)
                     THEN coalesce((extract(epoch FROM u.blocked_until) * 1000)::int8, 0) END,
                s.has_second_factor, u.is_guest
           FROM sessions s
           JOIN users u ON u.project_number = $1 AND u.id = s.user_id
          WHERE s.project_number = $1 AND s.id = $2 AND s.expires_at > $3`,
        [project, id, new Date(now())],
      );
      if (!row) return null;
      uses.note(project, id);
      const [, , , reason = null, until, hasSecondFactor, isGuest] = row;
      return {
        ...presentRoleAndGroups(row),
        ...(until != null && { blocked: { reason, until: Number(until) || null } }),
        ...(hasSecondFactor === 't' && { hasSecondFactor: true as const }),
        ...(isGuest === 't' && { isGuest: true as const }),
      };
    },
  };
};

export type Sessions = ReturnType<typeof createSessions>;
