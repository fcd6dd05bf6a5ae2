import { createHash, randomBytes } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Account, Users } from './users.ts';

export type TokenPurpose = 'verify' | 'reset';

export interface OneTimeToken {
  /** 32 bytes, base64url; only its SHA-256 is kept. */
  token: string;
  expiresAt: Date;
}

const digest = (token: string) => createHash('sha256').update(token).digest();

export const invalidLink = () =>
  new ApiError('invalid_link', 'This link was used already or has expired. Ask for a new one.');

export const createOneTimeTokens = (database: Database, users: Users, now: () => number) => ({
  /**
   * A token that replaces the user's older one of this purpose. For a null user it is written all the
   * same and opens nothing.
   */
  async issue(
    project: number,
    userId: string | null,
    purpose: TokenPurpose,
    ttlMs: number,
  ): Promise<OneTimeToken> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(now() + ttlMs);
    await database.query(
      `INSERT INTO one_time_tokens (project_number, token_hash, user_id, purpose, expires_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT ON CONSTRAINT one_time_tokens_user
       DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
      [project, digest(token), userId, purpose, expiresAt],
    );
    return { token, expiresAt };
  },

  /** Whose token it is, without using it up. @throws ApiError invalid_link */
  async owner(project: number, token: string, purpose: TokenPurpose): Promise<Account> {
    const [row] = await database.query<{ user_id: string }>(
      `SELECT user_id FROM one_time_tokens
        WHERE project_number = $1 AND token_hash = $2 AND purpose = $3 AND expires_at > $4 AND user_id IS NOT NULL`,
      [project, digest(token), purpose, new Date(now())],
    );
    const account = row && (await users.find(project, row.user_id));
    if (!account) throw invalidLink();
    return account;
  },

  /**
   * Uses the token up and locks its account; one of several parallel calls succeeds. Belongs into the
   * transaction of what the token allows.
   * @throws ApiError invalid_link
   */
  async use(
    project: number,
    userId: string,
    token: string,
    purpose: TokenPurpose,
  ): Promise<Account> {
    const account = await users.lock(project, userId);
    const used = await database.query(
      `DELETE FROM one_time_tokens
        WHERE project_number = $1 AND token_hash = $2 AND purpose = $3 AND expires_at > $4 AND user_id = $5 RETURNING user_id`,
      [project, digest(token), purpose, new Date(now()), userId],
    );
    if (!account || used.length === 0) throw invalidLink();
    return account;
  },

  async revoke(project: number, userId: string, purpose: TokenPurpose): Promise<void> {
    await database.query(
      'DELETE FROM one_time_tokens WHERE project_number = $1 AND user_id = $2 AND purpose = $3',
      [project, userId, purpose],
    );
  },
});

export type OneTimeTokens = ReturnType<typeof createOneTimeTokens>;
