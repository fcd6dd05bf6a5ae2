import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '@backlot/contract';
import type { Upstream } from './upstream.ts';

/** What an Express app is when called as a function. */
export type ServiceApp = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** A service in the gateway's own process: its app is called, no socket lies between. */
export const createInProcessUpstream = (app: ServiceApp): Upstream => ({
  forward(req, res, onFailure) {
    // Gateway and service both listen to it; more than Node's 10 are no leak.
    res.setMaxListeners(20);
    app(req, res, (error) =>
      onFailure(error ?? new ApiError('route_not_found', 'There is no such route.')),
    );
    // A call in this process can't be aborted; what it still writes goes nowhere, because an aborted call
    // ends its connection.
    return () => {};
  },
  close() {},
});
