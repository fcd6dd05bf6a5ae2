import { hash, hkdfSync, randomUUID } from 'node:crypto';
import { type Database, deleteExpired, violatedConstraint, type workLeft } from '@backlot/database';
import type {
  Answer,
  IdempotencyStore,
  IdempotentCall,
  IdempotentResult,
  KeptAnswer,
} from '@backlot/http';
import { openUnder, sealUnder } from '@backlot/sealing';
import { createKeptBytes, usualBytesADay } from './kept-bytes.ts';

/** The table every schema with POST routes creates in its first migration. */
export const idempotencyTable = `
CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at)`;

/** What `runSlow` adds to it. */
export const idempotencyClaims = `
ALTER TABLE idempotency ALTER COLUMN sealed_answer DROP NOT NULL, ADD COLUMN claim uuid`;

const sha256 = (text: string) => hash('sha256', text, 'buffer');
const sealingKey = (call: IdempotentCall) =>
  new Uint8Array(hkdfSync('sha256', call.key, call.scope, 'idempotent answer', 32));

/**
 * An answer whose body ends with what the request has before its last character, such as the fields of
 * `{"data":{…}}`. Only an equal request gets it again, which brings them along.
 */
interface ShortAnswer extends Omit<Answer, 'body'> {
  start: string;
  sharedLength: number;
}

/** Compares halves, as long texts: a character after the other takes ten times as long. */
const countShared = (body: string, text: string): number => {
  const end = text.length - 1;
  let [least, most] = [0, Math.min(body.length, end)];
  while (least < most) {
    const length = Math.ceil((least + most) / 2);
    if (body.slice(-length) === text.slice(end - length, end)) least = length;
    else most = length - 1;
  }
  return least;
};

/** Less of an answer is stored: half of PostgreSQL's work with it. */
const shorten = (call: IdempotentCall, { body, ...rest }: Answer): ShortAnswer => {
  const sharedLength = countShared(body, call.text);
  const start = body.slice(0, body.length - sharedLength);
  return { sharedLength, ...rest, start };
};

/** What the release before has stored as it is begins so, and by chance nothing that is sealed. */
const plainStart = Buffer.from('{"sharedLength":');

type Seal = (call: IdempotentCall, answer: Answer) => Buffer;

/** Makes answers ready to be stored. */
const createSeal =
  (mayKeep: (owner: string, bytes: number) => boolean): Seal =>
  (call, answer) => {
    const text = JSON.stringify(shorten(call, answer));
    const kept = mayKeep(call.owner, Buffer.byteLength(text));
    return sealUnder(sealingKey(call), kept ? text : JSON.stringify(call.tooLarge()));
  };

const unseal = (call: IdempotentCall, stored: Buffer): Answer => {
  const isPlain = stored.subarray(0, plainStart.length).equals(plainStart);
  const bytes = isPlain ? stored : openUnder(sealingKey(call), stored);
  const kept: Answer | ShortAnswer = JSON.parse(bytes.toString('utf8'));
  // Those of earlier versions are whole.
  if ('body' in kept) return kept;
  const { start, sharedLength, ...rest } = kept;
  const end = call.text.length - 1;
  return { ...rest, body: start + call.text.slice(end - sharedLength, end) };
};

interface Deps {
  database: Database;
  seal: Seal;
}

class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Exact among parallel calls: one of them gets the row. */
const claim = async (
  database: Database,
  call: IdempotentCall,
  token: string,
): Promise<IdempotentResult | undefined> => {
  const [scopeHash, requestHash] = [sha256(call.scope), sha256(call.request)];
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
  { database, seal }: Deps,
  call: IdempotentCall,
  token: string,
  answer: Answer,
) => {
  const kept = await database.query(
    `UPDATE idempotency SET sealed_answer = $3, created_at = now()
      WHERE scope_hash = $1 AND claim = $2 AND sealed_answer IS NULL RETURNING true`,
    [sha256(call.scope), token, seal(call, answer)],
  );
  if (kept.length === 0) throw new ClaimLost();
};

const answerColumns = `request_hash, sealed_answer, created_at > now() - interval '24 hours' AS is_current`;

const lookUpSql = `SELECT free, ${answerColumns}
   FROM (SELECT pg_try_advisory_xact_lock($1::int8) AS free) lock
   LEFT JOIN idempotency ON free AND scope_hash = $2`;

const forgetSql = `DELETE FROM idempotency WHERE scope_hash = $1
   AND (sealed_answer IS NULL OR created_at <= now() - interval '24 hours')`;

/** Fails where another call has stored its answer since the look. */
const keepSql =
  'INSERT INTO idempotency (scope_hash, request_hash, sealed_answer) VALUES ($1, $2, $3)';

/** A table of WITH, with a comma before it: does what `keepSql` does, for several, if `written` has a row. */
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

const isTaken = (error: unknown) => violatedConstraint(error) === 'idempotency_pkey';

interface StoredAnswer {
  request_hash: Buffer | null;
  sealed_answer: Buffer | null;
  is_current: boolean | null;
}

interface KnownCall extends StoredAnswer {
  free: boolean;
}

/** Undefined where the call has no answer yet, or had it long ago. */
const replay = (
  call: IdempotentCall,
  { request_hash, sealed_answer, is_current }: StoredAnswer,
): IdempotentResult | undefined => {
  if (!is_current || !request_hash || !sealed_answer) return undefined;
  if (!request_hash.equals(sha256(call.request))) return 'mismatch';
  return { answer: unseal(call, sealed_answer), replayed: true };
};

/** Three round trips, where a statement after the other takes seven. */
const runOnce = (
  { database, seal }: Deps,
  call: IdempotentCall,
  work: () => Promise<Answer>,
): Promise<IdempotentResult> => {
  const [scopeHash, requestHash] = [sha256(call.scope), sha256(call.request)];
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
const findAnswer = async (
  database: Database,
  call: IdempotentCall,
): Promise<IdempotentResult | undefined> => {
  const [row] = await database.query<StoredAnswer>(
    `SELECT ${answerColumns} FROM idempotency WHERE scope_hash = $1`,
    [sha256(call.scope)],
  );
  return row && replay(call, row);
};

const runAlone = async (
  deps: Deps,
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
      return await runAlone(deps, call, work);
    } catch (error) {
      const kept = keptFailure(error);
      if (!kept) throw error;
      // Nothing was written. Where another call has been at it since, its answer is the one.
      return runAlone(deps, call, async () => kept);
    }
  };

  return {
    async runSlow(call, work, keptFailure) {
      const token = randomUUID();
      const known = await claim(database, call, token);
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
        // Where this fails too, the claim is free after its time. An answer whose commit was not heard stays.
        await database
          .query(
            'DELETE FROM idempotency WHERE scope_hash = $1 AND claim = $2 AND sealed_answer IS NULL',
            [sha256(call.scope), token],
          )
          .catch(() => {});
        throw error;
      }
    },
    run,
    async runInOne(call, work, keptFailure) {
      if (await isCluster()) return run(call, () => work(), keptFailure);
      const [scopeHash, requestHash] = [sha256(call.scope), sha256(call.request)];
      try {
        const answer = await work((answer) => ({
          scopeHash,
          requestHash,
          sealedAnswer: seal(call, answer),
        }));
        return { answer, replayed: false };
      } catch (error) {
        if (isTaken(error))
          return (await findAnswer(database, call)) ?? run(call, () => work(), keptFailure);
        const kept = keptFailure(error);
        if (!kept) throw error;
        return runAlone(deps, call, async () => kept);
      }
    },
    async sweep() {
      return await deleteExpired(database, [
        { table: 'idempotency', condition: `created_at < now() - interval '24 hours'` },
      ]);
    },
  };
};
