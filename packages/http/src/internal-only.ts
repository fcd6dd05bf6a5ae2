import { ApiError } from '@backlot/contract';
import {
  IdentityInvalid,
  type IdentitySecret,
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

/** Stands in front of paths that answer the platform's own questions, never a caller's. */
export const internalOnly =
  (secret: IdentitySecret, now: () => number): RequestHandler =>
  (req, _res, next) => {
    try {
      const { caller, project } = verifyIdentity(req.headers[identityHeader], secret, now());
      if (caller === internalIdentity.caller && project.number === internalIdentity.project.number)
        return next();
    } catch (error) {
      throw error instanceof IdentityInvalid ? identityRefused(error) : error;
    }
    throw new ApiError('unauthenticated', 'This path answers the platform only.');
  };
