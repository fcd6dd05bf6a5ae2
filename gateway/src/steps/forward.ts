import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition, type ServiceName } from '@backlot/contract';
import type { OnFailure, Upstream } from '../upstream/upstream.ts';

/** Contract section 2: gateway time-out. */
const timeoutMs = 30_000;

export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  definition: RouteDefinition,
  path: string,
  onFailure: OnFailure,
) => void;

/** Hands the call to its service, and gives it up when the time is over or the caller has gone. */
export const createForward =
  (upstreams: Record<ServiceName, Upstream>, limitMs = timeoutMs): Forward =>
  (req, res, definition, path, onFailure) => {
    req.url = path;
    const giveUp = upstreams[definition.service].forward(req, res, onFailure);
    const timer = setTimeout(() => {
      giveUp();
      onFailure(new ApiError('timeout', 'The service did not answer in time.'));
    }, limitMs);
    res.on('close', () => {
      clearTimeout(timer);
      if (!res.writableFinished) giveUp();
    });
  };
