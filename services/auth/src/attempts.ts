import { createHash } from 'node:crypto';
import { ApiError, platformProject } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { AttemptLimit, AuthConfig } from './config.ts';
import type { Attempt, DB as Tables } from './tables.ts';

export interface Counter {
  key: Buffer;
  limit: AttemptLimit;
  /** Attempts that succeed stay counted too. */
  keepsSuccesses?: boolean;
}

type Reserved = Pick<Attempt, 'counter' | 'window_ends_at'>;

const sha256 = (...parts: string[]) => createHash('sha256').update(parts.join('\n')).digest();

/** A caller's IP address as tables keep it. */
export const hashIp = (ip: string): Buffer => sha256('address', ip);

/** Which counters a call has (docs/api.md, "Accounts"). */
export const createCounters = (limits: AuthConfig['limits']) => ({
  /**
   * An IP address from which the account signed in before has a counter of its own, so that others'
   * failures can't lock it out. Every attempt costs a hash, so successes of one address are bounded too.
   */
  signIn(
    email: string,
    ip: string,
    account: { id: string; ip_known: boolean } | undefined,
  ): Counter[] {
    const all = {
      key: sha256('sign-ins', email, ip),
      limit: limits.signInsPerEmailAndIp,
      keepsSuccesses: true,
    };
    if (account?.ip_known) {
      const key = sha256('sign-in from known', account.id, ip);
      return [{ key, limit: limits.signInPerKnownIp }, all];
    }
    return [
      { key: sha256('sign-in', email), limit: limits.signInPerEmail },
      { key: sha256('sign-in from', ip), limit: limits.signInPerIp },
      all,
    ];
  },
  signUp: (project: number, ip: string): Counter[] => [
    {
      key: sha256('sign-up from', ip),
      limit: project === platformProject.number ? limits.ownerSignUpPerIp : limits.signUpPerIp,
    },
  ],
  groupsFrom: (ip: string): Counter[] => [
    { key: sha256('groups from', ip), limit: limits.groupsPerIp },
  ],
  invites: (userId: string | null, ip: string): Counter[] => [
    { key: sha256('invitations of', String(userId)), limit: limits.invitesPerUser },
    { key: sha256('invitations from', ip), limit: limits.invitesPerIp },
  ],
  emailChanges: (userId: string, ip: string): Counter[] => [
    { key: sha256('e-mail changes of', userId), limit: limits.emailChangesPerUser },
    { key: sha256('e-mail changes from', ip), limit: limits.emailChangesPerIp },
  ],
  resetCallsFrom: (ip: string): Counter[] => [
    { key: sha256('forgot from', ip), limit: limits.forgotPerIp },
  ],
  resetMailsTo: (email: string): Counter[] => [
    { key: sha256('forgot', email), limit: limits.forgotPerEmail },
  ],
});

/**
 * Counts in PostgreSQL, exactly under parallel calls: an attempt is reserved before its work begins
 * and released when it doesn't count. Where a counter is full nothing is written: refused attempts
 * leave no rows. All of it outside the surrounding transaction, because a failed attempt counts
 * although its call is rolled back.
 */
export const createAttempts = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  const reserve = (project: number, counters: Counter[]) =>
    database.named<Reserved>(
      'reserve_attempts',
      `INSERT INTO attempts AS a (project_number, counter, used, allowed, window_ends_at)
       SELECT $1, counter, 1, allowed, window_ends_at
         FROM unnest($2::bytea[], $3::int4[], $4::timestamptz[]) AS wanted (counter, allowed, window_ends_at)
        WHERE NOT EXISTS (
          SELECT FROM unnest($2::bytea[], $3::int4[]) AS full_at (counter, allowed)
            JOIN attempts counted USING (counter)
           WHERE counted.project_number = $1 AND counted.window_ends_at > $5 AND counted.used >= full_at.allowed)
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
  const release = async (project: number, reserved: Reserved[]) => {
    if (reserved.length === 0) return;
    await database.named(
      'release_attempts',
      `UPDATE attempts SET used = attempts.used - 1
         FROM (SELECT a.project_number, a.counter FROM attempts a
                 JOIN unnest($2::bytea[], $3::timestamptz[]) AS reserved (counter, window_ends_at) USING (counter, window_ends_at)
                WHERE a.project_number = $1 ORDER BY a.counter FOR UPDATE OF a) locked
        WHERE attempts.project_number = locked.project_number AND attempts.counter = locked.counter AND attempts.used > 0`,
      [project, reserved.map(({ counter }) => counter), reserved.map((row) => row.window_ends_at)],
    );
  };

  const createRefusal = async (
    project: number,
    counters: Counter[],
    reserved: Reserved[],
  ): Promise<ApiError> => {
    await release(project, reserved);
    const { ends_at: endsAt } = await queries
      .selectFrom('attempts')
      .select(({ fn }) => fn.max<Date | null>('window_ends_at').as('ends_at'))
      .where('project_number', '=', project)
      .where(({ and, eb, or }) =>
        or(
          counters.map(({ key, limit }) =>
            and([eb('counter', '=', key), eb('used', '>=', limit.max)]),
          ),
        ),
      )
      .executeTakeFirstOrThrow();
    const seconds = Math.ceil(((endsAt?.getTime() ?? now()) - now()) / 1000);
    return new ApiError('too_many_attempts', 'Too many attempts. Try again later.', {
      retryAfterSeconds: Math.max(1, seconds),
    });
  };

  const reserveAll = (project: number, counters: Counter[]): Promise<Reserved[]> =>
    database.detached(async () => {
      const reserved = await reserve(project, counters);
      if (reserved.length < counters.length) throw await createRefusal(project, counters, reserved);
      return reserved;
    });

  return {
    /**
     * Runs `work` unless a counter is full. What answers undefined counts as a failed attempt; what
     * succeeds counts only where a counter keeps it, what throws not at all.
     * @throws ApiError too_many_attempts
     */
    async countFailures<T>(
      project: number,
      counters: Counter[],
      work: () => Promise<T | undefined>,
    ): Promise<T | undefined> {
      const reserved = await reserveAll(project, counters);
      let released = reserved;
      try {
        const result = await work();
        const kept = counters.filter(
          ({ keepsSuccesses }) => result === undefined || keepsSuccesses,
        );
        released = reserved.filter(({ counter }) => !kept.some(({ key }) => key.equals(counter)));
        return result;
      } finally {
        await database.detached(() => release(project, released));
      }
    },

    /** Every call counts but those that end as overloaded. @throws ApiError too_many_attempts */
    async countCalls<T>(project: number, counters: Counter[], work: () => Promise<T>): Promise<T> {
      const reserved = await reserveAll(project, counters);
      try {
        return await work();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'overloaded') {
          await database.detached(() => release(project, reserved));
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
