import { type Database, violatedConstraint } from '@backlot/database';
import type { Answer, IdempotentCall, IdempotentResult } from '@backlot/http';
import { hashCall, type Seal, unseal } from './stored-answer.ts';

export interface AnswersDeps {
  database: Database;
  seal: Seal;
}

const answerColumns = `request_hash, sealed_answer, created_at > now() - interval '24 hours' AS is_current`;

const lookUpSql = `SELECT free, ${answerColumns}
   FROM (SELECT pg_try_advisory_xact_lock($1::int8) AS free) lock
   LEFT JOIN idempotency ON free AND scope_hash = $2`;

const forgetSql = `DELETE FROM idempotency WHERE scope_hash = $1
   AND (sealed_answer IS NULL OR created_at <= now() - interval '24 hours')`;

/** Fails where another call has stored its answer since the look. */
const keepSql =
  'INSERT INTO idempotency (scope_hash, request_hash, sealed_answer) VALUES ($1, $2, $3)';

/** Another call with this key has stored its answer meanwhile. */
export const isTaken = (error: unknown) => violatedConstraint(error) === 'idempotency_pkey';

interface KnownAnswer {
  request_hash: Buffer | null;
  sealed_answer: Buffer | null;
  is_current: boolean | null;
}

interface KnownCall extends KnownAnswer {
  free: boolean;
}

/** Undefined where the call has no answer yet, or had it long ago. */
const replay = (
  call: IdempotentCall,
  { request_hash, sealed_answer, is_current }: KnownAnswer,
): IdempotentResult | undefined => {
  if (!is_current || !request_hash || !sealed_answer) return undefined;
  if (!request_hash.equals(hashCall(call).requestHash)) return 'mismatch';
  return { answer: unseal(call, sealed_answer), replayed: true };
};

/** Three round trips, where a statement after the other takes seven. */
const runOnce = (
  { database, seal }: AnswersDeps,
  call: IdempotentCall,
  work: () => Promise<Answer>,
): Promise<IdempotentResult> => {
  const { scopeHash, requestHash } = hashCall(call);
  const lookUp = {
    name: 'idempotency_look_up',
    text: lookUpSql,
    values: [scopeHash.readBigInt64BE().toString(), scopeHash],
  };
  return database.transactionFrom<KnownCall, IdempotentResult>(lookUp, async ([row]) => {
    if (!row?.free) return 'in_progress';
    const known = replay(call, row);
    if (known) return known;
    if (row.request_hash) await database.query(forgetSql, [scopeHash]);
    const answer = await work();
    database.commitWith({
      name: 'idempotency_keep',
      text: keepSql,
      values: [scopeHash, requestHash, seal(call, answer)],
    });
    return { answer, replayed: false };
  });
};

/** The answer of another call with this key, which has stored it since the look. */
export const findAnswer = async (
  database: Database,
  call: IdempotentCall,
): Promise<IdempotentResult | undefined> => {
  const [row] = await database.query<KnownAnswer>(
    `SELECT ${answerColumns} FROM idempotency WHERE scope_hash = $1`,
    [hashCall(call).scopeHash],
  );
  return row && replay(call, row);
};

/** The work, its writes and its answer in one transaction, of one call with this key at a time. */
export const runInTransaction = async (
  deps: AnswersDeps,
  call: IdempotentCall,
  work: () => Promise<Answer>,
): Promise<IdempotentResult> => {
  try {
    return await runOnce(deps, call, work);
  } catch (error) {
    if (!isTaken(error)) throw error;
    return (await findAnswer(deps.database, call)) ?? runOnce(deps, call, work);
  }
};
