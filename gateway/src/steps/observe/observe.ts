import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, planHeader } from '@backlot/contract';
import type { HttpMetrics, Logger } from '@backlot/telemetry';
import onHeaders from 'on-headers';
import type { NoteCalls, NotedCall } from '../../call-log/note-calls.ts';
import type { TraceCalls } from './trace-calls.ts';

/** Slower calls get a log line. */
const slowMs = 1000;
/** nginx's status for a caller who left before the answer was written. */
const callerLeft = 499;

/**
 * Of an answer that was not written to its end: an error where it was cut off on this side. A stream has no end:
 * who leaves one that had begun was answered.
 */
const unfinishedStatus = (
  { errored, headersSent, statusCode }: ServerResponse,
  isStream: boolean,
): number => {
  if (errored instanceof ApiError) return errored.status;
  return isStream && headersSent ? statusCode : callerLeft;
};

/** What is known of a call by the time it is answered. */
export interface Observed extends NotedCall {
  projectId: string;
  startedAt: number;
  /** Its answer has no end: how long it takes says nothing. */
  isStream?: true;
  /** How its answer was found, where its service tells. */
  plan?: string;
  /** As whom the owner looked. */
  viewAs?: string;
}

/** Takes from the answer what is for the log alone. */
export const takePlan = (res: ServerResponse, call: Observed): void => {
  onHeaders(res, () => {
    const plan = res.getHeader(planHeader);
    if (plan === undefined) return;
    call.plan = String(plan);
    res.removeHeader(planHeader);
  });
};

export interface ObserveOptions {
  log: Logger;
  metrics: HttpMetrics | undefined;
  /** A log line for every call. */
  accessLog: boolean;
  /** For the log that owners read. */
  calls: NoteCalls;
  traces: TraceCalls;
}

/** Counts each call under its operation, notes it for its owner, and logs failing and slow ones. */
export const createObserve =
  ({ log, metrics, accessLog, calls, traces }: ObserveOptions) =>
  (req: IncomingMessage, res: ServerResponse, call: Observed): void => {
    calls.begin(req, res, call);
    res.on('close', () => {
      const { requestId, operation, projectId, startedAt, plan, isStream, viewAs } = call;
      const durationMs = performance.now() - startedAt;
      const status = res.writableFinished
        ? res.statusCode
        : unfinishedStatus(res, isStream === true);
      const route = { operationId: operation, limit: call.definition?.limit ?? 'none' };
      metrics?.observe(route, status, isStream ? 0 : durationMs / 1000);
      calls.end(req, res, call, { status, durationMs });
      traces.end(res, call, status);
      const line = {
        requestId,
        operation,
        projectId,
        status,
        durationMs,
        ...(plan && { plan }),
        ...(viewAs && { viewAs }),
      };
      if (status >= 500) log.error(line, 'call failed');
      else if (durationMs >= slowMs && !isStream) log.warn(line, 'slow call');
      else if (accessLog || viewAs) log.info(line, 'call');
    });
  };
