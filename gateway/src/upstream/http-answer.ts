import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '@backlot/contract';

/** Belong to one connection, not to the answer (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers of a service's answer that the caller sees. */
export const answerHeaders = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => {
  const passed: OutgoingHttpHeaders = {};
  for (const name in headers) {
    if (!hopByHop.has(name)) passed[name] = headers[name];
  }
  return passed;
};

export const unavailable = (cause: unknown): ApiError =>
  new ApiError('unavailable', 'This part of the service is out of reach. Try again shortly.', {
    cause,
    retryAfterSeconds: 2,
  });
