import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBufferRelease } from '@backlot/http';
import { type Dispatcher, Pool } from 'undici';
import { answerHeaders, identityRefusal, unavailable } from './http-answer.ts';
import type { OnUpstreamFailure, Upstream } from './upstream.ts';

/** Below a service's keep-alive of 65 s, so that the gateway is the one to close an idle connection. */
const idleMs = 30_000;
const connectTimeoutMs = 3000;

/** Copies one answer to the caller, at the caller's pace. */
const createAnswerHandler = (
  res: ServerResponse,
  onFailure: OnUpstreamFailure,
): Dispatcher.DispatchHandler & { abort(): void } => {
  let controller: Dispatcher.DispatchController | undefined;
  let isAborted = false;
  const aborted = new Error('aborted by the gateway');
  const takeChunk = createBufferRelease();
  return {
    abort() {
      isAborted = true;
      controller?.abort(aborted);
    },
    onRequestStart(started) {
      controller = started;
      if (isAborted) started.abort(aborted);
    },
    onResponseStart(started, status, headers) {
      if (status < 200) return;
      const refusal = identityRefusal(headers);
      if (refusal || res.headersSent) {
        isAborted = true;
        started.abort(aborted);
        if (refusal) onFailure(refusal, 'undelivered');
      } else res.writeHead(status, answerHeaders(headers));
    },
    onResponseData(started, chunk) {
      // A caller who left never drains.
      if (res.destroyed) return;
      const onSent = takeChunk(chunk);
      if (res.write(chunk, (error) => error ?? onSent())) return;
      started.pause();
      res.once('drain', () => started.resume());
    },
    onResponseEnd() {
      res.end();
    },
    onResponseError(_started, error) {
      // Undici hands the controller over right before it writes the request.
      if (!isAborted) onFailure(unavailable(error), controller ? undefined : 'undelivered');
    },
  };
};

/** Calls back at the end of the body, and never for a caller who leaves before it. */
const collect = (req: IncomingMessage, onBody: (body: Buffer) => void) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.once('end', () => onBody(Buffer.concat(chunks)));
};

/**
 * A service behind HTTP, for calls whose body is small or none. undici's dispatch costs the gateway
 * less than half of what a proxied pair of node:http messages does (docs/decisions/0007). It gets the
 * bytes of a body and not the request, whose socket it would take away.
 */
export const createPoolUpstream = (origin: string): Upstream => {
  const pool = new Pool(origin, {
    pipelining: 1,
    keepAliveTimeout: idleMs,
    connectTimeout: connectTimeoutMs,
    // The gateway has its own time-out for each call.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    forward(req: IncomingMessage, res, onFailure) {
      const handler = createAnswerHandler(res, onFailure);
      const { url = '/', headers } = req;
      const method = (req.method ?? 'GET') as Dispatcher.HttpMethod;
      const send = (body: Buffer | null) =>
        void pool.dispatch({ path: url, method, headers, body }, handler);
      if (Number(headers['content-length'] ?? 0) > 0) collect(req, send);
      else send(null);
      return handler.abort;
    },
    close: () => void pool.destroy(),
  };
};
