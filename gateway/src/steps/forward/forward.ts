import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, callTimeoutMs, type RouteDefinition, type ServiceName } from '@backlot/contract';
import type { DiscardBody } from '@backlot/http';
import { type Bodies, isComing } from '../../addresses/bodies.ts';
import type { Charge } from '../../admission/charge.ts';
import type { OnFailure, OnUpstreamFailure, Upstream } from '../../upstream/upstream.ts';
import { bodyLimit, needsReadAhead } from './read-ahead.ts';

export interface ForwardedCall {
  definition: RouteDefinition;
  /** As the service knows it, with its query. */
  path: string;
  charge: Charge | undefined;
  /** Of the client. */
  address: string;
  /** performance.now() */
  startedAt: number;
}

export interface ForwardDeps {
  upstreams: Record<ServiceName, Upstream>;
  bodies: Bodies;
  discardBody: DiscardBody;
  /** The route's own unless a test brings another. */
  timeoutMs: number | undefined;
}

export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  call: ForwardedCall,
  onFailure: OnFailure,
) => void;

/** Whether anything was written or read since the last look. */
const createProgressCheck = (res: ServerResponse) => {
  let seen = 0;
  return (): boolean => {
    const { bytesWritten = 0, bytesRead = 0 } = res.socket ?? {};
    const isMore = bytesWritten + bytesRead > seen;
    seen = bytesWritten + bytesRead;
    return isMore;
  };
};

/**
 * Hands the call to its service, and aborts it at its time-out, when its body comes too slowly or when
 * the caller leaves. Uploads have their service's own rule.
 * @throws ApiError rate_limited, overloaded; what the service's silence throws
 */
export const createForward =
  ({ upstreams, bodies, discardBody, timeoutMs }: ForwardDeps): Forward =>
  (req, res, { definition, path, charge, address, startedAt }, onFailure) => {
    const { service, price, answers, takes, lastsWhileBodyComes } = definition;
    upstreams[service].check?.();
    const isStreamed = takes === 'multipart' || takes === 'bytes';
    req.url = path;
    const onUpstreamFailure: OnUpstreamFailure = (error, delivery) => {
      if (delivery === 'undelivered') charge?.cancel();
      // What the service did is unknown: the ledger settles it.
      else charge?.leaveOpen();
      onFailure(error);
    };
    let abort = () => {};
    const giveUp: OnFailure = (error) => {
      abort();
      onUpstreamFailure(error);
    };
    if (!isStreamed && !needsReadAhead(definition) && isComing(req))
      bodies.expect(req, res, {
        address,
        limitBytes: bodyLimit(definition),
        startedAt,
        onSlow: giveUp,
      });
    abort = upstreams[service].forward(req, res, onUpstreamFailure, isStreamed);
    const hasProgress = createProgressCheck(res);
    const callMs = timeoutMs ?? callTimeoutMs(definition.limit);
    const onTimeout = () => {
      if (answers === 'events' && res.headersSent) return;
      // A file may take as long as the caller's network does, while it makes progress.
      const isLong = (answers === 'file' && res.headersSent) || lastsWhileBodyComes;
      if (isLong && hasProgress()) {
        timer = setTimeout(onTimeout, callMs);
        return;
      }
      giveUp(new ApiError('timeout', 'The service did not answer in time.'));
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
