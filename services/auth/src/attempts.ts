import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Counter, sha256 } from './counters.ts';
import type { Attempt, DB as Tables } from './tables.ts';

type Reserved = Pick<Attempt, 'counter' | 'window_ends_at' | 'used'>;

/** Asked where a counter says that work is due. @throws ApiError proof_of_work_needed */
export type Prove = () => Promise<void>;

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
       RETURNING counter, window_ends_at, used`,
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

  const isWorkDue = (counters: Counter[], reserved: Reserved[]) =>
    counters.some(({ key, limit: { proofFrom } }) => {
      const row = reserved.find(({ counter }) => counter.equals(key));
      return row !== undefined && proofFrom !== undefined && row.used > proofFrom;
    });

  const reserveAll = (
    project: number,
    counters: Counter[],
    prove?: () => Promise<void>,
  ): Promise<Reserved[]> =>
    database.detached(async () => {
      const reserved = await reserve(project, counters);
      if (reserved.length < counters.length) throw await createRefusal(project, counters, reserved);
      if (!prove || !isWorkDue(counters, reserved)) return reserved;
      try {
        await prove();
      } catch (error) {
        await release(project, reserved);
        throw error;
      }
      return reserved;
    });

  return {
    /**
     * Runs `work` unless a counter is full. What answers undefined counts as a failed attempt; what
     * succeeds counts only where a counter keeps it, what throws not at all.
     * @param prove asked where much was counted already
     * @throws ApiError too_many_attempts, proof_of_work_needed
     */
    async countFailures<T>(
      project: number,
      counters: Counter[],
      work: () => Promise<T | undefined>,
      prove?: Prove,
    ): Promise<T | undefined> {
      const reserved = await reserveAll(project, counters, prove);
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

    /** Every call counts but those that end as overloaded. @throws ApiError too_many_attempts, proof_of_work_needed */
    async countCalls<T>(
      project: number,
      counters: Counter[],
      work: () => Promise<T>,
      prove?: Prove,
    ): Promise<T> {
      const reserved = await reserveAll(project, counters, prove);
      try {
        return await work();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'overloaded') {
          await database.detached(() => release(project, reserved));
        }
        throw error;
      }
    },

    /** Whether nobody has asked so of the same before. @param windowMs how long that is remembered */
    async isFirst(project: number, what: string, windowMs: number): Promise<boolean> {
      const counter = { key: sha256('once', what), limit: { max: 1, windowMs } };
      return (await database.detached(() => reserve(project, [counter]))).length === 1;
    },

    /** Counts one more, or answers false where the counter is full. */
    async isAllowed(project: number, counters: Counter[]): Promise<boolean> {
      const reserved = await database.detached(() => reserve(project, counters));
      return reserved.length === counters.length;
    },
  };
};

export type Attempts = ReturnType<typeof createAttempts>;
