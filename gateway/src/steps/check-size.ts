import type { IncomingMessage } from 'node:http';
import { ApiError, defaultBodyLimitBytes, type RouteDefinition } from '@backlot/contract';

/**
 * Refuses a body that says itself that it is too large, before a byte of it is forwarded. One that
 * does not say is cut off by the service.
 * @throws ApiError body_too_large
 */
export const checkSize = (req: IncomingMessage, definition: RouteDefinition): void => {
  const declared = req.headers['content-length'];
  if (declared === undefined) return;
  const limitBytes = definition.bodyLimitBytes ?? defaultBodyLimitBytes;
  if (Number(declared) > limitBytes) {
    throw new ApiError('body_too_large', `The body may have at most ${limitBytes} bytes.`);
  }
};
