import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { AttemptLimit, AuthConfig } from './config.ts';

/** One thing that is counted: a purpose and whom it is counted for. */
export interface Counter {
  key: Buffer;
  limit: AttemptLimit;
}

interface Reserved {
  counter: Buffer;
  window_ends_at: Date;
}

const sha256 = (...parts: string[]) => createHash('sha256').update(parts.join('\n')).digest();

/** The address of a caller as tables keep it. */
export const addressDigest = (ip: string): Buffer => sha256('address', ip);

/** Which counters a call has (contract section 3). */
export const createCounters = (limits: AuthConfig['limits']) => ({
  /**
   * An address from which the account signed in before has a counter of its own, so that others'
   * failures can't shut it out.
   */
  signIn(
    email: string,
    ip: string,
    account: { id: string; address_known: boolean } | undefined,
  ): Counter[] {
    if (account?.address_known) {
      return [
        { key: sha256('sign-in from known', account.id, ip), limit: limits.signInPerKnownAddress },
      ];
    }
    return [
      { key: sha256('sign-in', email), limit: limits.signInPerEmail },
      { key: sha256('sign-in from', ip), limit: limits.signInPerIp },
    ];
  },
  signUp: (ip: string): Counter[] => [
    { key: sha256('sign-up from', ip), limit: limits.signUpPerIp },
  ],
  forgotFrom: (ip: string): Counter[] => [
    { key: sha256('forgot from', ip), limit: limits.forgotPerIp },
  ],
  forgotMail: (email: string): Counter[] => [
    { key: sha256('forgot', email), limit: limits.forgotPerEmail },
  ],
});

/**
 * Counts in PostgreSQL, exactly under parallel calls: an attempt is reserved before its work begins
 * and given back when it doesn't count. All of it outside the surrounding transaction, because a
 * failed attempt counts although its call is rolled back.
 */
export const createAttempts = (database: Database, now: () => number) => {
  const reserve = (project: number, counters: Counter[]) =>
    database.named<Reserved>(
      'reserve_attempts',
      `INSERT INTO attempts AS a (project_number, counter, used, allowed, window_ends_at)
       SELECT $1, counter, 1, allowed, window_ends_at
         FROM unnest($2::bytea[], $3::int4[], $4::timestamptz[]) AS wanted (counter, allowed, window_ends_at)
        ORDER BY counter
       ON CONFLICT (project_number, counter) DO UPDATE SET
         used = CASE WHEN a.window_ends_at <= $5 THEN 1 ELSE a.used + 1 END,
         window_ends_at = CASE WHEN a.window_ends_at <= $5 THEN excluded.window_ends_at ELSE a.window_ends_at END,
         allowed = excluded.allowed
       WHERE a.window_ends_at <= $5 OR a.used < excluded.allowed
       RETURNING counter, window_ends_at`,
      [
        project,
        counters.map(({ key }) => key),
        counters.map(({ limit }) => limit.max),
        counters.map(({ limit }) => new Date(now() + limit.windowMs)),
        new Date(now()),
      ],
    );

  /** Rows are locked in the order of `reserve`; a window that has passed meanwhile is left alone. */
  const giveBack = async (project: number, reserved: Reserved[]) => {
    if (reserved.length === 0) return;
    await database.named(
      'give_attempts_back',
      `UPDATE attempts SET used = attempts.used - 1
         FROM (SELECT a.project_number, a.counter FROM attempts a
                 JOIN unnest($2::bytea[], $3::timestamptz[]) AS given (counter, window_ends_at) USING (counter, window_ends_at)
                WHERE a.project_number = $1 ORDER BY a.counter FOR UPDATE OF a) held
        WHERE attempts.project_number = held.project_number AND attempts.counter = held.counter AND attempts.used > 0`,
      [project, reserved.map(({ counter }) => counter), reserved.map((row) => row.window_ends_at)],
    );
  };

  const refusal = async (
    project: number,
    counters: Counter[],
    reserved: Reserved[],
  ): Promise<ApiError> => {
    await giveBack(project, reserved);
    const refused = counters.filter(
      ({ key }) => !reserved.some(({ counter }) => counter.equals(key)),
    );
    const [row] = await database.query<{ ends_at: Date | null }>(
      'SELECT max(window_ends_at) AS ends_at FROM attempts WHERE project_number = $1 AND counter = ANY($2)',
      [project, refused.map(({ key }) => key)],
    );
    const seconds = Math.ceil(((row?.ends_at?.getTime() ?? now()) - now()) / 1000);
    return new ApiError('too_many_attempts', 'Too many attempts. Try again later.', {
      retryAfterSeconds: Math.max(1, seconds),
    });
  };

  const take = (project: number, counters: Counter[]): Promise<Reserved[]> =>
    database.detached(async () => {
      const reserved = await reserve(project, counters);
      if (reserved.length < counters.length) throw await refusal(project, counters, reserved);
      return reserved;
    });

  return {
    /**
     * Runs `work` unless a counter is full. What answers undefined counts as a failed attempt; what
     * succeeds, or breaks without having decided anything, does not.
     * @throws ApiError too_many_attempts
     */
    async countFailures<T>(
      project: number,
      counters: Counter[],
      work: () => Promise<T | undefined>,
    ): Promise<T | undefined> {
      const reserved = await take(project, counters);
      let failed = false;
      try {
        const result = await work();
        failed = result === undefined;
        return result;
      } finally {
        if (!failed) await database.detached(() => giveBack(project, reserved));
      }
    },

    /** Every call counts but those that end as overloaded. @throws ApiError too_many_attempts */
    async countCalls<T>(project: number, counters: Counter[], work: () => Promise<T>): Promise<T> {
      const reserved = await take(project, counters);
      try {
        return await work();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'overloaded') {
          await database.detached(() => giveBack(project, reserved));
        }
        throw error;
      }
    },

    /** Counts one more, or answers false where the counter is full. */
    async isAllowed(project: number, counters: Counter[]): Promise<boolean> {
      const reserved = await database.detached(() => reserve(project, counters));
      return reserved.length === counters.length;
    },
  };
};

export type Attempts = ReturnType<typeof createAttempts>;
export type Counters = ReturnType<typeof createCounters>;
