import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  type LimitClass,
  type RouteDefinition,
  type ServiceName,
} from '@backlot/contract';
import { discardBody } from '@backlot/http';
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

/** Whether anything was written since it was asked last. */
const createProgress = (res: ServerResponse) => {
  let seen = 0;
  return (): boolean => {
    const written = res.socket?.bytesWritten ?? 0;
    const moved = written > seen;
    seen = written;
    return moved;
  };
};

/** Hands the call to its service, and gives it up when the time is over or the caller has gone. */
export const createForward =
  (upstreams: Record<ServiceName, Upstream>, limitMs?: number): Forward =>
  (req, res, { definition, path, charge }, onFailure) => {
    const { service, price, answers, takes } = definition;
    const isStreamed = takes === 'multipart' || takes === 'bytes';
    req.url = path;
    // What the service did is unknown: the ledger will tell.
    const onUnknown: OnFailure = (error) => {
      charge?.leaveOpen();
      onFailure(error);
    };
    const giveUp = upstreams[service].forward(req, res, onUnknown);
    const moves = createProgress(res);
    const patienceMs = limitMs ?? longerMs[definition.limit] ?? timeoutMs;
    const onTime = () => {
      // A file takes as long as the caller's network does, as long as it moves.
      if (answers === 'file' && res.headersSent && moves()) {
        timer = setTimeout(onTime, patienceMs);
        return;
      }
      giveUp();
      onUnknown(new ApiError('timeout', 'The service did not answer in time.'));
    };
    let timer = setTimeout(onTime, patienceMs);
    const endUpload = () => {
      if (req.complete) return;
      discardBody(req);
      giveUp();
    };
    // It may have been refused on its way.
    if (isStreamed) res.once('finish', endUpload);
    // Before a service in this process hears of it, which may then answer nobody.
    res.prependListener('close', () => {
      const isPaidFor = price && (!price.endsWithCaller || (isStreamed && req.complete));
      // What a priced call does is paid for: it is heard to its end, or until its time is over.
      if (isPaidFor && !res.writableFinished) return void timer.unref();
      clearTimeout(timer);
      if (res.writableFinished) return;
      // A service uses nothing before it has the whole body.
      if (isStreamed) charge?.cancel();
      else charge?.leaveOpen();
      giveUp();
    });
  };
