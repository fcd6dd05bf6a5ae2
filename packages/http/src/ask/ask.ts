import { Readable } from 'node:stream';
import {
  type IdentityKey,
  identityHeader,
  internalIdentity,
  signIdentity,
} from '@backlot/identity';
import { internalCall } from '../internal-only.ts';
import { createSilenceGuard, type SilenceGuard } from '../server/silence.ts';

export interface AskOrigin {
  requestId?: string;
  traceparent?: string;
}

const originHeaders = ({ requestId, traceparent }: AskOrigin = {}) => ({
  ...(requestId !== undefined && { 'X-Request-Id': requestId }),
  ...(traceparent !== undefined && { traceparent }),
});

export interface HttpDirectoryOptions {
  /** Origin of the service that is asked, for example `http://projects:8087`. */
  origin: string;
  /** What this process signs with when it asks that service. */
  identityKey: IdentityKey;
  /** Epoch milliseconds. */
  now: () => number;
  /** Of that service. */
  guard?: SilenceGuard | undefined;
  /** The call that is worked for. */
  currentOrigin?: (() => AskOrigin | undefined) | undefined;
}

/** A caller waits for these answers, so that a slow directory must fail before the caller's own patience. */
const defaultTimeoutMs = 5000;

/**
 * @param body JSON, or bytes that are sent as they come
 * @param operation of the route that is asked, where it is one of the API
 */
export type Ask = (path: string, body?: unknown, operation?: string) => Promise<Response>;

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

const toBody = (body: unknown) => {
  if (isStream(body)) return { body: Readable.toWeb(Readable.from(body)), duplex: 'half' as const };
  return { body: body === undefined ? null : JSON.stringify(body) };
};

/** One that no server lets in has whoever asks it answer the same. */
const toError = async (response: Response, message: string): Promise<Error> => {
  const error = new Error(message);
  if (response.status !== 503) {
    await response.body?.cancel();
    return error;
  }
  const { code } = (await response.json().catch(() => ({}))) as { code?: string };
  return code === 'access_refused' ? Object.assign(error, { isRefused: true }) : error;
};

export const createAsk =
  (
    {
      origin,
      identityKey,
      now,
      guard = createSilenceGuard(origin),
      currentOrigin = () => undefined,
    }: HttpDirectoryOptions,
    method = 'GET',
    timeoutMs = defaultTimeoutMs,
  ): Ask =>
  async (path, body, operation) => {
    const url = new URL(path, origin);
    const call = operation ?? internalCall(method, url.pathname + url.search);
    guard.check();
    const silence = new AbortController();
    let hasAnswer = false;
    const end = guard.watch({
      hasAnswer: () => hasAnswer,
      fail: (error) => silence.abort(error),
    });
    const response = await fetch(url, {
      method,
      headers: {
        ...originHeaders(currentOrigin()),
        [identityHeader]: signIdentity(internalIdentity, call, identityKey, now()),
        ...(body !== undefined && {
          'Content-Type': isStream(body) ? 'application/octet-stream' : 'application/json',
        }),
      },
      ...toBody(body),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), silence.signal]),
    })
      .then((answer) => {
        hasAnswer = true;
        return answer;
      })
      .finally(end);
    if (response.status !== 200 && response.status !== 404) {
      throw await toError(response, `${origin}${path} answered ${response.status}.`);
    }
    return response;
  };

export const jsonOrNull = async <T>(response: Response): Promise<T | null> => {
  if (response.status === 200) return (await response.json()) as T;
  await response.body?.cancel();
  return null;
};

/** Null for what is gone. @throws Error where nobody there knows the question, as an older version */
export const nullWhereGone = async (response: Response): Promise<null> => {
  const { code } = (await response.json().catch(() => ({}))) as { code?: string };
  if (code === 'not_found') return null;
  throw new Error(`${response.url} is no question there.`);
};
