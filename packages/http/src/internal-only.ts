import { ApiError } from '@backlot/contract';
import {
  IdentityInvalid,
  type IdentityKey,
  identityHeader,
  identityRefusedHeader,
  internalIdentity,
  verifyIdentity,
} from '@backlot/identity';
import type { RequestHandler } from 'express';

/** A service answers the gateway, and nobody whose identity it can't verify. */
export const identityRefused = (cause: IdentityInvalid): ApiError =>
  new ApiError('unauthenticated', 'This service answers the gateway only.', {
    cause,
    headers: { [identityRefusedHeader]: cause.message },
  });

/** What an identity for an internal path is signed for: this request alone. @param path with its query */
export const internalCall = (method: string, path: string): string => `${method} ${path}`;

/**
 * Stands in front of paths that answer the platform's own questions, never a caller's.
 * @param keys of the gateway and of each service that may ask
 */
export const internalOnly =
  (keys: readonly IdentityKey[], now: () => number): RequestHandler =>
  (req, _res, next) => {
    const call = internalCall(req.method, req.baseUrl + req.url);
    try {
      const { caller, project } = verifyIdentity(req.headers[identityHeader], call, keys, now());
      if (caller === internalIdentity.caller && project.number === internalIdentity.project.number)
        return next();
    } catch (error) {
      throw error instanceof IdentityInvalid ? identityRefused(error) : error;
    }
    throw new ApiError('unauthenticated', 'This path answers the platform only.');
  };
