import type { ServiceName } from '@backlot/contract';
import type { SurroundedCall } from '@backlot/http';
import { type Logger, type Origin, type Tracer, withOrigin } from '@backlot/telemetry';
import type { RequestHandler } from 'express';

type InCall = (call: SurroundedCall, work: () => Promise<void>) => Promise<void>;

/** The same for what another process asks. */
export const inOrigin: RequestHandler = ({ headers }, _res, next) => {
  const { 'x-request-id': requestId, traceparent } = headers;
  const origin: Origin = {
    ...(typeof requestId === 'string' && { requestId }),
    ...(typeof traceparent === 'string' && { traceparent }),
  };
  withOrigin(origin, next);
};

const textOf = (header: string | string[] | undefined) =>
  typeof header === 'string' ? header : undefined;

/** What is done for a call names it, and is a span of its trace where calls are traced. */
export const createInCall = (
  service: ServiceName,
  log: Logger,
  tracer: Tracer | undefined,
): InCall => {
  const isLogged = log.isLevelEnabled('debug');
  const note = ({ definition, res }: SurroundedCall) => {
    const { operationId } = definition;
    res.once('close', () => log.debug({ operation: operationId, status: res.statusCode }, 'call'));
  };
  return (call, work) => {
    const { req, res, definition } = call;
    const requestId = textOf(req.headers['x-request-id']);
    const origin = requestId === undefined ? {} : { requestId };
    if (!tracer) {
      return withOrigin(origin, () => {
        if (isLogged) note(call);
        return work();
      });
    }
    const span = tracer.start(`${service} ${definition.operationId}`, {
      kind: 'server',
      parent: textOf(req.headers.traceparent) ?? null,
    });
    res.once('close', () => {
      span.end({ 'http.response.status_code': res.statusCode }, res.statusCode >= 500);
    });
    const { traceparent } = span;
    return span.run(() =>
      withOrigin({ ...origin, traceparent }, () => {
        if (isLogged) note(call);
        return work();
      }),
    );
  };
};
