import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from '@backlot/contract';
import { discardBody, failureBody, isFault, toApiError } from '@backlot/http';

export interface FailLog {
  error(fields: object, message: string): void;
}

const write = (req: IncomingMessage, res: ServerResponse, error: ApiError, requestId: string) => {
  const body = failureBody(error, requestId);
  // What was given up may still write; only the end of the connection keeps it from the next answer.
  if (error.code === 'timeout') res.setHeader('Connection', 'close');
  res.writeHead(error.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(error.retryAfterSeconds === undefined
      ? {}
      : { 'Retry-After': String(error.retryAfterSeconds) }),
    ...error.headers,
  });
  res.end(body);
  discardBody(req);
};

/** Answers a failure of the gateway's own in the contract's form; an answer already begun is cut off. */
export const createFail =
  (log: FailLog) =>
  (req: IncomingMessage, res: ServerResponse, thrown: unknown, requestId: string): void => {
    if (res.writableEnded || res.destroyed) return;
    const error = toApiError(thrown);
    if (isFault(error)) log.error({ err: error, cause: error.cause, requestId }, error.message);
    if (res.headersSent) {
      req.socket.destroy();
      return;
    }
    write(req, res, error, requestId);
  };
