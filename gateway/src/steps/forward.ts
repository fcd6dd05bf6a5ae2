import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  type LimitClass,
  type RouteDefinition,
  type ServiceName,
} from '@backlot/contract';
import type { OnFailure, Upstream } from '../upstream/upstream.ts';
import type { Charge } from './charge.ts';

/** Contract section 2: gateway time-outs. */
const timeoutMs = 30_000;
const longerMs: Partial<Record<LimitClass, number>> = { ai: 75_000, upload: 300_000 };

export interface ForwardedCall {
  definition: RouteDefinition;
  /** As the service knows it, with its query. */
  path: string;
  charge: Charge | undefined;
}

export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  call: ForwardedCall,
  onFailure: OnFailure,
) => void;

/** Hands the call to its service, and gives it up when the time is over or the caller has gone. */
export const createForward =
  (upstreams: Record<ServiceName, Upstream>, limitMs?: number): Forward =>
  (req, res, { definition, path, charge }, onFailure) => {
    const { service, price } = definition;
    req.url = path;
    // What the service did is unknown: the ledger will tell.
    const onUnknown: OnFailure = (error) => {
      charge?.leaveOpen();
      onFailure(error);
    };
    const giveUp = upstreams[service].forward(req, res, onUnknown);
    const timer = setTimeout(
      () => {
        giveUp();
        onUnknown(new ApiError('timeout', 'The service did not answer in time.'));
      },
      limitMs ?? longerMs[definition.limit] ?? timeoutMs,
    );
    // Before a service in this process hears of it, which may then answer nobody.
    res.prependListener('close', () => {
      clearTimeout(timer);
      // What a priced call does is paid for: it is heard to its end, also when its caller has gone.
      if (res.writableFinished || (price && !price.endsWithCaller)) return;
      charge?.leaveOpen();
      giveUp();
    });
  };
