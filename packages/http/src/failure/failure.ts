import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type ErrorCode, failureHeader } from '@backlot/contract';
import type { ErrorRequestHandler } from 'express';
import { discardBody } from '../body/discard-body.ts';
import { hintHeader } from '../input/unknown-input.ts';
import { readFailedBody } from './failed-bodies.ts';

const isMarked = (error: unknown, mark: 'isUnavailable' | 'isRefused') =>
  typeof error === 'object' && error !== null && (error as Record<string, unknown>)[mark] === true;

/** A queue of @backlot/fair-shares that is full. */
const isFull = (error: unknown): error is Error & { retryAfterSeconds: number } =>
  error instanceof Error && error.name === 'FairShareFull' && 'retryAfterSeconds' in error;

const hasCode = (error: unknown): error is { code: string; message: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';

/** A server takes the user or the password no more that a process reaches it with. */
const isRefused = (error: unknown): boolean =>
  isMarked(error, 'isRefused') ||
  (error instanceof ApiError && error.code === 'unavailable' && isRefused(error.cause));

const accessRefused = (cause: unknown): ApiError =>
  new ApiError(
    'access_refused',
    'A part of the platform is not let in by a server that it needs.',
    {
      cause,
      hint: 'Its operator is told which one. The same call succeeds once its password is put right.',
      retryAfterSeconds: 5,
    },
  );

/** Anything that is no ApiError shows as an internal error, or as 503 where a dependency is down. */
export const toApiError = (error: unknown): ApiError => {
  if (isRefused(error)) return accessRefused(error);
  if (error instanceof ApiError) return error;
  // What an adapter throws when the server behind it can't be reached.
  if (isMarked(error, 'isUnavailable')) {
    return new ApiError(
      'unavailable',
      'A part of the service is out of reach. Try again shortly.',
      {
        cause: error,
        retryAfterSeconds: 2,
      },
    );
  }
  if (error instanceof Error && error.name === 'SealBroken') {
    return new ApiError(
      'secrets_unreadable',
      'A key that this project keeps here can not be read at the moment.',
      {
        cause: error,
        hint: 'The operator has to put the master key back, or the owner has to set the key again.',
      },
    );
  }
  if (isFull(error)) {
    return new ApiError('overloaded', 'Too many such calls at once. Try again shortly.', {
      cause: error,
      retryAfterSeconds: error.retryAfterSeconds,
    });
  }
  if (error instanceof Error && error.name === 'StatementTimeout') {
    return new ApiError('unavailable', 'The database did not answer in time. Try again shortly.', {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
  if (error instanceof URIError || (hasCode(error) && error.code === 'ERR_INVALID_URL')) {
    return new ApiError('invalid_path', 'The path is not valid percent-encoded UTF-8.', {
      cause: error,
    });
  }
  return new ApiError('internal', 'Something went wrong on our side.', { cause: error });
};

export const failureBody = (
  {
    message,
    code,
    hint,
    problems,
    challenge,
  }: Pick<ApiError, 'message' | 'code'> &
    Partial<Pick<ApiError, 'hint' | 'problems' | 'challenge'>>,
  requestId: string,
): string =>
  JSON.stringify({
    error: message,
    code,
    requestId,
    ...(hint && { hint }),
    ...(problems && { problems }),
    ...(challenge && { challenge }),
  });

/** A queue that is full on purpose, and an index that will be there. */
const expected: ReadonlySet<ErrorCode> = new Set(['overloaded', 'index_building']);

/** Worth a line in the log. */
export const isFault = (error: ApiError): boolean =>
  error.status >= 500 && !expected.has(error.code);

export interface FailureLog {
  error(fields: object, message: string): void;
}

const writeFailure = (
  req: IncomingMessage,
  res: ServerResponse,
  error: ApiError,
  requestId: string,
  discard: () => Promise<void>,
) => {
  const { message, code, problems, challenge } = error;
  // What was ignored is most often the cause.
  const hint = [res.getHeader(hintHeader), error.hint].filter((part) => part).join(' ');
  const body = failureBody({ message, code, hint, problems, challenge }, requestId);
  // What was given up may still write, or come: only the end of the connection keeps it from the next call.
  const endsConnection = error.code === 'timeout' || error.code === 'request_timeout';
  if (endsConnection) res.setHeader('Connection', 'close');
  res.writeHead(error.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(error.retryAfterSeconds === undefined
      ? {}
      : { 'Retry-After': String(error.retryAfterSeconds) }),
    ...error.headers,
  });
  if (endsConnection || req.complete || res.shouldKeepAlive) {
    res.end(body);
    void discard();
  } else {
    // Node closes such a connection at the end of the answer, and the client still sends.
    res.write(body);
    void discard().then(() => res.end());
  }
};

/**
 * Answers any failure in the API's form and logs the 5xx; an answer already begun is cut off.
 * @param discard reads what is left of the request's body
 */
export const answerFailure = (
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  log: FailureLog,
  discard = () => discardBody(req),
): void => {
  if (res.writableEnded || res.destroyed) return;
  const error = toApiError(thrown);
  const requestId = String(res.getHeader('x-request-id') ?? req.headers['x-request-id'] ?? '');
  if (isFault(error)) log.error({ err: error, requestId }, error.message);
  const body = readFailedBody(thrown);
  if (body !== undefined && !res.headersSent) res.setHeader(failureHeader, body);
  if (res.headersSent) res.destroy(error);
  else writeFailure(req, res, error, requestId, discard);
};

/** The last middleware of every app. */
export const errorHandler =
  (log: FailureLog): ErrorRequestHandler =>
  (thrown, req, res, _next) =>
    answerFailure(req, res, thrown, log);
