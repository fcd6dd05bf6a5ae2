import type { ServerResponse } from 'node:http';
import { ApiError, planHeader } from '@backlot/contract';
import type { HttpMetrics, Logger } from '@backlot/telemetry';
import onHeaders from 'on-headers';

/** Slower calls get a log line. */
const slowMs = 1000;
/** nginx's status for a caller who left before the answer was written. */
const callerLeft = 499;

/** Of an answer that was not written to its end: an error where it was cut off on this side. */
const unfinishedStatus = ({ errored }: ServerResponse): number =>
  errored instanceof ApiError ? errored.status : callerLeft;

/** What is known of a call by the time it is answered. */
export interface Observed {
  requestId: string;
  operation: string;
  projectId: string;
  startedAt: number;
  /** How its answer was found, where its service tells. */
  plan?: string;
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
}

/** Counts each call under its operation, and logs failing and slow ones. */
export const createObserve =
  ({ log, metrics, accessLog }: ObserveOptions) =>
  (res: ServerResponse, call: Observed): void => {
    res.on('close', () => {
      const { requestId, operation, projectId, startedAt, plan } = call;
      const durationMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : unfinishedStatus(res);
      metrics?.observe(operation, status, durationMs / 1000);
      const line = { requestId, operation, projectId, status, durationMs, ...(plan && { plan }) };
      if (status >= 500) log.error(line, 'call failed');
      else if (durationMs >= slowMs) log.warn(line, 'slow call');
      else if (accessLog) log.info(line, 'call');
    });
  };
