import type { ServerResponse } from 'node:http';
import type { Span, Tracer } from '@backlot/telemetry';

export interface TracedCall {
  operation: string;
  requestId: string;
  projectId: string;
}

export interface TraceCalls {
  /** A caller's own traceparent is not gone on with: it would say what is traced. */
  run(res: ServerResponse, work: () => void): void;
  /** For the service; undefined where calls are not traced. */
  traceparent(res: ServerResponse): string | undefined;
  end(res: ServerResponse, call: TracedCall, status: number): void;
}

/** Each call as the beginning of a trace; nothing at all without a tracer. */
export const createTraceCalls = (tracer: Tracer | undefined): TraceCalls => {
  if (!tracer) return { run: (_res, work) => work(), traceparent: () => undefined, end: () => {} };
  const spans = new WeakMap<ServerResponse, Span>();
  return {
    run(res, work) {
      const span = tracer.start('gateway', { kind: 'server', parent: null });
      spans.set(res, span);
      span.run(work);
    },
    traceparent: (res) => spans.get(res)?.traceparent,
    end(res, { operation, requestId, projectId }, status) {
      const attributes = {
        'backlot.operation': operation,
        'backlot.project': projectId,
        'backlot.request_id': requestId,
        'http.response.status_code': status,
      };
      spans.get(res)?.end(attributes, status >= 500);
    },
  };
};
