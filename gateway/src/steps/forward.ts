import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  type LimitClass,
  type RouteDefinition,
  type ServiceName,
} from '@backlot/contract';
import type { OnFailure, Upstream } from '../upstream/upstream.ts';

/** Contract section 2: gateway time-outs. */
const timeoutMs = 30_000;
const longerMs: Partial<Record<LimitClass, number>> = { ai: 75_000, upload: 300_000 };

export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  definition: RouteDefinition,
  path: string,
  onFailure: OnFailure,
) => void;

/** Hands the call to its service, and gives it up when the time is over or the caller has gone. */
export const createForward =
  (upstreams: Record<ServiceName, Upstream>, limitMs?: number): Forward =>
  (req, res, definition, path, onFailure) => {
    req.url = path;
    const giveUp = upstreams[definition.service].forward(req, res, onFailure);
    const timer = setTimeout(
      () => {
        giveUp();
        onFailure(new ApiError('timeout', 'The service did not answer in time.'));
      },
      limitMs ?? longerMs[definition.limit] ?? timeoutMs,
    );
    res.on('close', () => {
      clearTimeout(timer);
      // What a priced call does is paid for: it is heard to its end, also when its caller has gone.
      if (!res.writableFinished && !definition.price) giveUp();
    });
  };
