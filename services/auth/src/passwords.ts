import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import argon2 from 'argon2';
import pLimit from 'p-limit';
import type { AuthConfig } from './config.ts';

/** Argon2id in the PHC string format. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
  isOutdated(hash: string): boolean;
}

export const createArgon2Hasher = ({
  memoryKib,
  passes,
  lanes,
}: AuthConfig['argon2']): PasswordHasher => {
  const cost = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes };
  return {
    hash: (password) => argon2.hash(password, { ...cost, type: argon2.argon2id }),
    verify: (hash, password) => argon2.verify(hash, password),
    isOutdated: (hash) => argon2.needsRehash(hash, cost),
  };
};

/** NIST SP 800-63B-4, 3.1.1.2: one form whatever keyboard the password was typed on. */
const normalize = (password: string) => password.normalize('NFKC');

const overloaded = () =>
  new ApiError('overloaded', 'Too many sign-ins are under way. Try again shortly.', {
    retryAfterSeconds: 1,
  });

interface PasswordOptions {
  database: Database;
  hasher: PasswordHasher;
  hashing: AuthConfig['hashing'];
  now: () => number;
}

/**
 * Hashes few passwords at a time, because each keeps one of the process's few worker threads busy for
 * over 20 ms. Past the queue calls are refused, and one project may hold at most half of the queue.
 */
export const createPasswords = ({ database, hasher, hashing, now }: PasswordOptions) => {
  const { concurrency, queueLength } = hashing;
  const limit = pLimit(concurrency);
  const waiting = new Map<number, number>();
  const maxPerProject = concurrency + Math.ceil(queueLength / 2);

  const queued = async <T>(project: number, work: () => Promise<T>): Promise<T> => {
    const held = waiting.get(project) ?? 0;
    if (
      limit.activeCount + limit.pendingCount >= concurrency + queueLength ||
      held >= maxPerProject
    )
      throw overloaded();
    waiting.set(project, held + 1);
    try {
      return await limit(work);
    } finally {
      const left = (waiting.get(project) ?? 1) - 1;
      if (left === 0) waiting.delete(project);
      else waiting.set(project, left);
    }
  };

  const hash = (project: number, password: string) =>
    queued(project, () => hasher.hash(normalize(password)));

  /** What an unknown account's password is compared with, so that it costs the same. */
  let nobodysHash: Promise<string> | undefined;

  return {
    /** Makes what unknown accounts are compared with. */
    async prepare(): Promise<void> {
      nobodysHash ??= hasher.hash(crypto.randomUUID());
      await nobodysHash;
    },

    /** @throws ApiError overloaded */
    hash,

    /** Costs the same without a stored hash, then answers false. @throws ApiError overloaded */
    async verify(project: number, stored: string | undefined, password: string): Promise<boolean> {
      nobodysHash ??= hasher.hash(crypto.randomUUID());
      const compared = stored ?? (await nobodysHash);
      const equal = await queued(project, () => hasher.verify(compared, normalize(password)));
      return equal && stored !== undefined;
    },

    /** Stores the same password under today's parameters; a full queue leaves it to the next sign-in. */
    async refreshHash(
      project: number,
      account: { id: string; password_hash: string; password_version: number },
      password: string,
    ): Promise<void> {
      if (!hasher.isOutdated(account.password_hash)) return;
      const fresh = await hash(project, password).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'overloaded') return undefined;
        throw error;
      });
      if (fresh === undefined) return;
      await database.query(
        'UPDATE users SET password_hash = $4 WHERE project_number = $1 AND id = $2 AND password_version = $3',
        [project, account.id, account.password_version, fresh],
      );
    },

    /**
     * Stores another password for the account that was read.
     * @returns false when it is gone or has changed its password meanwhile
     */
    async replace(
      project: number,
      account: { id: string; password_version: number },
      passwordHash: string,
    ): Promise<boolean> {
      const rows = await database.query(
        `UPDATE users SET password_hash = $4, password_version = password_version + 1, updated_at = $5
          WHERE project_number = $1 AND id = $2 AND password_version = $3 RETURNING id`,
        [project, account.id, account.password_version, passwordHash, new Date(now())],
      );
      return rows.length > 0;
    },
  };
};

export type Passwords = ReturnType<typeof createPasswords>;
