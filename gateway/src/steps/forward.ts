import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, callTimeoutMs, type RouteDefinition, type ServiceName } from '@backlot/contract';
import type { DiscardBody } from '@backlot/http';
import type { OnFailure, Upstream } from '../upstream/upstream.ts';
import type { Charge } from './charge.ts';

export interface ForwardedCall {
  definition: RouteDefinition;
  /** As the service knows it, with its query. */
  path: string;
  charge: Charge | undefined;
  /** Of the client. */
  address: string;
}

export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  call: ForwardedCall,
  onFailure: OnFailure,
) => void;

/** Whether anything was written since the last look. */
const createProgressCheck = (res: ServerResponse) => {
  let seen = 0;
  return (): boolean => {
    const written = res.socket?.bytesWritten ?? 0;
    const isMore = written > seen;
    seen = written;
    return isMore;
  };
};

/** Hands the call to its service, and aborts it at its time-out or when the caller leaves. */
export const createForward =
  (upstreams: Record<ServiceName, Upstream>, discardBody: DiscardBody, limitMs?: number): Forward =>
  (req, res, { definition, path, charge, address }, onFailure) => {
    const { service, price, answers, takes } = definition;
    const isStreamed = takes === 'multipart' || takes === 'bytes';
    req.url = path;
    // What the service did is unknown: the ledger settles it.
    const onUnknown: OnFailure = (error) => {
      charge?.leaveOpen();
      onFailure(error);
    };
    const abort = upstreams[service].forward(req, res, onUnknown);
    const hasProgress = createProgressCheck(res);
    const callMs = limitMs ?? callTimeoutMs(definition.limit);
    const onTimeout = () => {
      // A file may take as long as the caller's network does, while it makes progress.
      if (answers === 'file' && res.headersSent && hasProgress()) {
        timer = setTimeout(onTimeout, callMs);
        return;
      }
      abort();
      onUnknown(new ApiError('timeout', 'The service did not answer in time.'));
    };
    let timer = setTimeout(onTimeout, callMs);
    const endUpload = () => {
      if (req.complete) return;
      void discardBody(req, address);
      abort();
    };
    // The service may have refused it before its end.
    if (isStreamed) res.once('finish', endUpload);
    // First, before a service in this process reacts to the same event.
    res.prependListener('close', () => {
      const outlivesCaller = price && (!price.endsWithCaller || (isStreamed && req.complete));
      // A priced call goes on without its caller, so that its usage becomes known.
      if (outlivesCaller && !res.writableFinished) return void timer.unref();
      clearTimeout(timer);
      if (res.writableFinished) return;
      // A service uses nothing before it has the whole body.
      if (isStreamed) charge?.cancel();
      else charge?.leaveOpen();
      abort();
    });
  };
