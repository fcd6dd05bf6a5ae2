import { createHash } from 'node:crypto';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { failureBody, toApiError } from './failure.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Finished {
  answer: Answer;
  /** The last writes. */
  commit(): Promise<unknown>;
}

interface IdempotentCall {
  scope: string;
  key: string;
  request: string;
}

type IdempotentResult = { answer: Answer; replayed: boolean } | 'mismatch' | 'in_progress';
type KeptFailure = (error: unknown) => Answer | undefined;

/** Structurally what packages/database offers as IdempotencyStore. */
export interface IdempotencyPort {
  run(
    call: IdempotentCall,
    work: () => Promise<Answer>,
    keptFailure: KeptFailure,
  ): Promise<IdempotentResult>;
  runSlow(
    call: IdempotentCall,
    work: () => Promise<Finished>,
    keptFailure: KeptFailure,
  ): Promise<IdempotentResult>;
}

export interface KeyedCall {
  definition: RouteDefinition;
  identity: Identity;
  /** The header Idempotency-Key. */
  key: string;
  path: string;
  text: string;
  requestId: string;
}

/** Contract section 2. */
const maxKeyLength = 255;

const callerName = (identity: Identity) => identity.userId ?? identity.keyId ?? identity.ip;

const scopeOf = ({ definition, identity, key }: KeyedCall) =>
  [
    identity.project.number,
    identity.caller,
    callerName(identity),
    definition.operationId,
    key,
  ].join('\n');

/**
 * Does the work of a call that carries an Idempotency-Key at most once (contract section 2).
 * @throws ApiError invalid_header, idempotency_mismatch, idempotency_in_progress
 */
export const once = async (
  store: IdempotencyPort,
  asked: KeyedCall,
  work: () => Promise<Finished>,
  isSlow: boolean,
): Promise<Answer> => {
  const { key, path, text, requestId } = asked;
  if (key.length === 0 || key.length > maxKeyLength) {
    throw new ApiError(
      'invalid_header',
      `Idempotency-Key must have 1 to ${maxKeyLength} characters.`,
    );
  }
  const keptFailure = (error: unknown): Answer | undefined => {
    const failure = toApiError(error);
    if (failure.status === 402 || failure.status === 429 || failure.status >= 500) return undefined;
    const body = failureBody(failure, requestId);
    return { status: failure.status, headers: failure.headers, body };
  };
  const request = createHash('sha256').update(path).update('\n').update(text).digest('hex');
  const call = { scope: scopeOf(asked), key, request };
  const atOnce = async () => {
    const { answer, commit } = await work();
    await commit();
    return answer;
  };
  const result = isSlow
    ? await store.runSlow(call, work, keptFailure)
    : await store.run(call, atOnce, keptFailure);
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
