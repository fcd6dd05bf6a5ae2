import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { digestToken, newToken } from '../links/links.ts';
import type { DB as Tables } from '../tables.ts';
import type { Account } from '../users/user-row.ts';

/** Whoever has shown the first factor has this long for the second. */
const waitMs = 10 * 60_000;
/** Of one account. */
const maxWaiting = 20;

export const signInExpired = () =>
  new ApiError('sign_in_expired', 'This sign-in was finished already, or has waited too long.', {
    hint: 'Sign in again: it answers a new factorToken, good for 10 minutes.',
  });

export interface WaitingSignIn {
  userId: string;
  passwordVersion: number;
  method: string;
  /** Whether the account has signed in from this IP address before. */
  isIpKnown: boolean;
}

/** Sign-ins that have shown the first factor, until they show the second. */
export const createWaitingSignIns = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  return {
    newToken,

    /** False where the account is gone or has changed its password; the oldest past the limit end. Belongs into the transaction of the first factor. */
    async store(
      project: number,
      token: string,
      { id, password_version }: Pick<Account, 'id' | 'password_version'>,
      method: string,
    ): Promise<boolean> {
      const rows = await database.query(
        `INSERT INTO factor_tokens (project_number, token_hash, user_id, password_version, method, expires_at)
         SELECT $1, $2, id, password_version, $5, $6 FROM users
          WHERE project_number = $1 AND id = $3 AND password_version = $4 FOR NO KEY UPDATE
         RETURNING 1`,
        [project, digestToken(token), id, password_version, method, new Date(now() + waitMs)],
      );
      await database.query(
        `DELETE FROM factor_tokens WHERE project_number = $1 AND token_hash IN (
           SELECT token_hash FROM factor_tokens WHERE project_number = $1 AND user_id = $2
            ORDER BY expires_at DESC, (token_hash = $4) DESC, token_hash OFFSET $3)`,
        [project, id, maxWaiting, digestToken(token)],
      );
      return rows.length > 0;
    },

    /** @throws ApiError sign_in_expired */
    async find(project: number, token: string, ipHash: Buffer): Promise<WaitingSignIn> {
      const [row] = await database.query<{
        user_id: string;
        password_version: number;
        method: string;
        ip_known: boolean;
      }>(
        `SELECT user_id, password_version, method,
                EXISTS (SELECT FROM known_addresses k
                         WHERE k.project_number = $1 AND k.user_id = t.user_id AND k.address = $3) AS ip_known
           FROM factor_tokens t WHERE project_number = $1 AND token_hash = $2 AND expires_at > $4`,
        [project, digestToken(token), ipHash, new Date(now())],
      );
      if (!row) throw signInExpired();
      return {
        userId: row.user_id,
        passwordVersion: row.password_version,
        method: row.method,
        isIpKnown: row.ip_known,
      };
    },

    /** False where another call has finished it. Belongs into the transaction of the session. */
    async finish(project: number, token: string): Promise<boolean> {
      const { numDeletedRows } = await queries
        .deleteFrom('factor_tokens')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
};

export type WaitingSignIns = ReturnType<typeof createWaitingSignIns>;
