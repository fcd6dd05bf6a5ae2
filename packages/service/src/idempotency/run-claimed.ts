import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@backlot/database';
import type { Answer, IdempotencyStore, IdempotentCall, IdempotentResult } from '@backlot/http';
import type { AnswersDeps } from './run-in-transaction.ts';
import { hashCall, unseal } from './stored-answer.ts';

class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Exact among parallel calls: one of them gets the row. */
const claim = async (
  database: Database,
  call: IdempotentCall,
  token: string,
): Promise<IdempotentResult | undefined> => {
  const { scopeHash, requestHash } = hashCall(call);
  const claimed = await database.query(
    `INSERT INTO idempotency (scope_hash, request_hash, claim) VALUES ($1, $2, $3)
     ON CONFLICT (scope_hash) DO UPDATE
       SET request_hash = excluded.request_hash, claim = excluded.claim, sealed_answer = NULL, created_at = now()
       WHERE idempotency.created_at <= now() - CASE WHEN idempotency.sealed_answer IS NULL
         THEN interval '2 minutes' ELSE interval '24 hours' END
     RETURNING true`,
    [scopeHash, requestHash, token],
  );
  if (claimed.length > 0) return undefined;
  const [row] = await database.query<{ request_hash: Buffer; sealed_answer: Buffer | null }>(
    'SELECT request_hash, sealed_answer FROM idempotency WHERE scope_hash = $1',
    [scopeHash],
  );
  if (row && !row.request_hash.equals(requestHash)) return 'mismatch';
  if (!row?.sealed_answer) return 'in_progress';
  return { answer: unseal(call, row.sealed_answer), replayed: true };
};

/** @throws ClaimLost where the work took so long that another call has taken it over */
const keep = async (
  { database, seal }: AnswersDeps,
  call: IdempotentCall,
  token: string,
  answer: Answer,
) => {
  const kept = await database.query(
    `UPDATE idempotency SET sealed_answer = $3, created_at = now()
      WHERE scope_hash = $1 AND claim = $2 AND sealed_answer IS NULL RETURNING true`,
    [hashCall(call).scopeHash, token, seal(call, answer)],
  );
  if (kept.length === 0) throw new ClaimLost();
};

/** @returns whether there was one. An answer whose commit was not heard stays. */
const free = async (database: Database, call: IdempotentCall, token: string): Promise<boolean> => {
  const freed = await database.query(
    `DELETE FROM idempotency WHERE scope_hash = $1 AND claim = $2 AND sealed_answer IS NULL
     RETURNING true`,
    [hashCall(call).scopeHash, token],
  );
  return freed.length > 0;
};

/** Pauses between the tries to free a claim, which is over after two minutes by itself. */
const freePausesMs = [500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/** Claims of this process that wait to be freed; further ones are left to their two minutes. */
const maxWaiting = 1000;
let waiting = 0;

/** While PostgreSQL is away, and behind that: what it was sent before, it may still write. */
const freeLater = async (...claimed: Parameters<typeof free>): Promise<void> => {
  if (waiting >= maxWaiting) return;
  waiting += 1;
  try {
    for (const ms of freePausesMs) {
      await sleep(ms, undefined, { ref: false });
      if (await free(...claimed).catch(() => false)) return;
    }
  } finally {
    waiting -= 1;
  }
};

/** The call is claimed first; what its work ends with and its answer commit together. */
export const runClaimed = async (
  deps: AnswersDeps,
  ...[call, work, keptFailure]: Parameters<IdempotencyStore['runSlow']>
): Promise<IdempotentResult> => {
  const { database } = deps;
  const token = randomUUID();
  const known = await claim(database, call, token).catch((error: unknown) => {
    void freeLater(database, call, token);
    throw error;
  });
  if (known) return known;
  try {
    const finish = await work();
    const answer = await database.transaction(async () => {
      const finished = await finish();
      await keep(deps, call, token, finished);
      return finished;
    });
    return { answer, replayed: false };
  } catch (error) {
    if (error instanceof ClaimLost) return 'in_progress';
    const kept = keptFailure(error);
    if (kept) {
      await keep(deps, call, token, kept);
      return { answer: kept, replayed: false };
    }
    await free(database, call, token).catch(() => void freeLater(database, call, token));
    throw error;
  }
};
