import type { ServerResponse } from 'node:http';
import type { HttpMetrics, Logger } from '@backlot/telemetry';

/** Slower calls get a log line. */
const slowMs = 1000;
/** nginx's name for a caller who went before the answer was written. */
const clientGone = 499;

/** What is known of a call by the time it is answered. */
export interface Observed {
  requestId: string;
  operation: string;
  projectId: string;
  startedAt: number;
}

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
      const { requestId, operation, projectId, startedAt } = call;
      const durationMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : clientGone;
      metrics?.observe(operation, status, durationMs / 1000);
      if (status >= 500)
        log.error({ requestId, operation, projectId, status, durationMs }, 'call failed');
      else if (durationMs >= slowMs)
        log.warn({ requestId, operation, projectId, status, durationMs }, 'slow call');
      else if (accessLog) log.info({ requestId, operation, projectId, status, durationMs }, 'call');
    });
  };
