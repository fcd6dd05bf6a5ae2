import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '@backlot/contract';
import { identityRefusedHeader } from '@backlot/identity';

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
  new ApiError('unavailable', 'This part of the service can not be reached. Try again shortly.', {
    cause,
    retryAfterSeconds: 2,
  });

/** Set where the service could not verify the identity that the gateway signed; the caller did no wrong. */
export const identityRefusal = (headers: IncomingHttpHeaders): ApiError | undefined => {
  const reason = headers[identityRefusedHeader];
  if (reason === undefined) return undefined;
  const hint =
    'do both have the same key in BACKLOT_IDENTITY_KEYS, the same release and the right clock?';
  return unavailable(new Error(`The service refuses the gateway's identity (${reason}): ${hint}`));
};
