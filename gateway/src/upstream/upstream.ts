import type { IncomingMessage, ServerResponse } from 'node:http';

/** Called with the failure of a call that the upstream could not answer; an answer already begun is cut off. */
export type OnFailure = (error: unknown) => void;

/** @param delivery undelivered: nothing was sent, or the service took nothing; else nobody knows what it did */
export type OnUpstreamFailure = (error: unknown, delivery?: 'undelivered') => void;

/**
 * One service, in this process or behind HTTP. `req.url` is the service's own path and the headers are
 * those that the service may see. The upstream writes the answer on `res`, or reports a failure.
 */
export interface Upstream {
  /** @throws Error that shows as 503 while the service is silent; nothing need be forwarded */
  check?(): void;
  /**
   * Returns a function that aborts the call; an answer that comes later is ignored.
   * @param isStreamed the service sees the body as it comes; a small one may be held until its end otherwise
   */
  forward(
    req: IncomingMessage,
    res: ServerResponse,
    onFailure: OnUpstreamFailure,
    isStreamed?: boolean,
  ): () => void;
  close(): void;
}
