import { hash } from 'node:crypto';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { failureBody, toApiError } from '../failure/failure.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How slow work ends: its last writes, and the answer that is stored with them. */
export type Finish = () => Promise<Answer>;

export interface IdempotentCall {
  /** Project, caller, route and key: what the answer belongs to. */
  scope: string;
  /** What the client sent as Idempotency-Key; seals stored answers, which may hold a token. */
  key: string;
  /** Equal for equal requests. */
  request: string;
  /** Who bears what is stored. */
  owner: string;
  /** What is stored in place of an answer that is too large to be kept. */
  tooLarge(): Answer;
  /** What the request was sent with: whatever stands there need not be stored with its answer. */
  text: string;
}

/** What a statement stores of an answer. */
export interface KeptAnswer {
  scopeHash: Buffer;
  requestHash: Buffer;
  sealedAnswer: Buffer;
}

/** Makes an answer ready to be stored by the statement that does the work. */
export type Keep = (answer: Answer) => KeptAnswer;

export type IdempotentResult = { answer: Answer; replayed: boolean } | 'mismatch' | 'in_progress';
type KeptFailure = (error: unknown) => Answer | undefined;

export interface IdempotencyStore {
  /**
   * Runs `work` at most once per call within 24 hours. Its writes and its answer commit together, so
   * that a crash leaves either both or neither. A failure that `keptFailure` turns into an answer is
   * kept too, without the writes made before it; any other failure leaves nothing behind. Where an owner has
   * many large answers, the call keeps `tooLarge` in place of its own.
   */
  run(
    call: IdempotentCall,
    work: () => Promise<Answer>,
    keptFailure: KeptFailure,
  ): Promise<IdempotentResult>;
  /**
   * The same for work that writes with one statement and has it store the answer too: `work` gets `keep` for
   * that. It gets none, and is done again as by `run`, where the key was used before. Its answer may say nothing
   * secret but what its request says: where that is all among what the two share, the rest is stored as it is.
   */
  runInOne(
    call: IdempotentCall,
    work: (keep?: Keep) => Promise<Answer>,
    keptFailure: KeptFailure,
  ): Promise<IdempotentResult>;
  /**
   * The same for work that waits for others: the call is claimed first and no transaction is held
   * while `work` runs. What it ends with and the answer commit together. A crash frees the claim
   * after two minutes; work that takes longer may be done twice, its writes and answer are not.
   */
  runSlow(
    call: IdempotentCall,
    work: () => Promise<Finish>,
    keptFailure: KeptFailure,
  ): Promise<IdempotentResult>;
}

/** How the work of a route writes. */
export type WorkKind = 'usual' | 'slow' | 'one statement';

export interface KeyedCall {
  definition: RouteDefinition;
  identity: Identity;
  /** The header Idempotency-Key. */
  key: string;
  path: string;
  text: string;
  requestId: string;
}

/** docs/api.md, "Every response". */
const maxKeyLength = 255;

/** What comes again with the same key may well be carried out. */
const passing = new Set([402, 428, 429]);

const callerName = (identity: Identity) =>
  identity.userId ?? identity.keyId ?? identity.operator?.name ?? identity.ip;

const scopeName = ({ definition, identity, key }: KeyedCall) =>
  [
    identity.project.number,
    identity.caller,
    callerName(identity),
    definition.operationId,
    key,
  ].join('\n');

const answerTooLarge = () =>
  new ApiError(
    'conflict',
    'The first request with this Idempotency-Key was carried out; its answer was too large to be kept.',
    { hint: 'Read what it has made. To have it made once more, send another key.' },
  );

/**
 * Does the work of a call that carries an Idempotency-Key at most once (docs/api.md, "Every response").
 * @throws ApiError invalid_header, idempotency_mismatch, idempotency_in_progress
 */
export const runIdempotently = async (
  store: IdempotencyStore,
  keyedCall: KeyedCall,
  work: (keep?: Keep) => Promise<Finish>,
  kind: WorkKind,
): Promise<Answer> => {
  const { key, path, text, requestId } = keyedCall;
  if (key.length === 0 || key.length > maxKeyLength) {
    throw new ApiError(
      'invalid_header',
      `Idempotency-Key must have 1 to ${maxKeyLength} characters.`,
    );
  }
  const toAnswer = (failure: ApiError): Answer => {
    const body = failureBody(failure, requestId);
    return { status: failure.status, headers: failure.headers, body };
  };
  const keptFailure = (error: unknown): Answer | undefined => {
    const failure = toApiError(error);
    if (passing.has(failure.status) || failure.status >= 500) return undefined;
    return toAnswer(failure);
  };
  const { id, ownerId } = keyedCall.identity.project;
  const call = {
    scope: scopeName(keyedCall),
    owner: ownerId ?? `project ${id}`,
    key,
    text,
    request: hash('sha256', `${path}\n${text}`),
    tooLarge: () => toAnswer(answerTooLarge()),
  };
  const atOnce = async (keep?: Keep) => {
    const finish = await work(keep);
    return finish();
  };
  const run = () => {
    switch (kind) {
      case 'slow':
        return store.runSlow(call, work, keptFailure);
      case 'one statement':
        return store.runInOne(call, atOnce, keptFailure);
      case 'usual':
        return store.run(call, atOnce, keptFailure);
    }
  };
  const result = await run();
  if (result === 'mismatch') {
    throw new ApiError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request.',
    );
  }
  if (result === 'in_progress') {
    const message = 'The first request with this Idempotency-Key is still running.';
    throw new ApiError('idempotency_in_progress', message, { retryAfterSeconds: 1 });
  }
  if (!result.replayed) return result.answer;
  return { ...result.answer, headers: { ...result.answer.headers, 'Idempotent-Replayed': 'true' } };
};
