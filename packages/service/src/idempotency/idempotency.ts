import { type Database, deleteExpired, type workLeft } from '@backlot/database';
import type { IdempotencyStore, KeptAnswer } from '@backlot/http';
import { createKeptBytes, usualBytesADay } from './kept-bytes.ts';
import { runClaimed } from './run-claimed.ts';
import { findAnswer, isTaken, runInTransaction } from './run-in-transaction.ts';
import { createSeal, hashCall } from './stored-answer.ts';

/** A table of WITH, with a comma before it: stores what several calls keep, if `written` has a row. */
export const keepAnswersSql = (
  kept: readonly KeptAnswer[],
  written: string,
  add: (values: readonly Buffer[]) => string,
): string => {
  if (kept.length === 0) return '';
  const columns = [
    kept.map(({ scopeHash }) => scopeHash),
    kept.map(({ requestHash }) => requestHash),
    kept.map(({ sealedAnswer }) => sealedAnswer),
  ];
  // In one order, so that two statements with the same keys don't wait for each other.
  return `, kept AS (INSERT INTO idempotency (scope_hash, request_hash, sealed_answer)
    SELECT * FROM unnest(${columns.map(add).join(', ')}) answer WHERE EXISTS (SELECT FROM ${written}) ORDER BY 1)`;
};

/** On a cluster no statement writes to a table that is spread and to one that is not. */
const createIsCluster = (database: Database) => {
  let known: boolean | undefined;
  return async (): Promise<boolean> => {
    known ??= (await database.query(`SELECT FROM pg_extension WHERE extname = 'citus'`)).length > 0;
    return known;
  };
};

export interface IdempotencyOptions {
  /** Epoch milliseconds. */
  now?: () => number;
  /** Of an owner's answers over 1 KiB that are kept. */
  bytesADay?: number;
}

export const createIdempotencyStore = (
  database: Database,
  { now = Date.now, bytesADay = usualBytesADay }: IdempotencyOptions = {},
): IdempotencyStore & {
  /** Deletes answers older than 24 hours. */
  sweep(): Promise<typeof workLeft | undefined>;
} => {
  const seal = createSeal(createKeptBytes(now, bytesADay));
  const deps = { database, seal };
  const isCluster = createIsCluster(database);

  const run: IdempotencyStore['run'] = async (call, work, keptFailure) => {
    try {
      return await runInTransaction(deps, call, work);
    } catch (error) {
      const kept = keptFailure(error);
      if (!kept) throw error;
      // Nothing was written. Where another call has been at it since, its answer is the one.
      return runInTransaction(deps, call, async () => kept);
    }
  };

  return {
    runSlow: (...asked) => runClaimed(deps, ...asked),
    run,
    async runInOne(call, work, keptFailure) {
      if (await isCluster()) return run(call, () => work(), keptFailure);
      try {
        const answer = await work((answer) => ({
          ...hashCall(call),
          sealedAnswer: seal(call, answer),
        }));
        return { answer, replayed: false };
      } catch (error) {
        if (isTaken(error))
          return (await findAnswer(database, call)) ?? run(call, () => work(), keptFailure);
        const kept = keptFailure(error);
        if (!kept) throw error;
        return runInTransaction(deps, call, async () => kept);
      }
    },
    async sweep() {
      return await deleteExpired(database, [
        { table: 'idempotency', condition: `created_at < now() - interval '24 hours'` },
      ]);
    },
  };
};
