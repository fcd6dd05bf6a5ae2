import { ApiError } from '@backlot/contract';
import {
  IdentityInvalid,
  type IdentitySecret,
  identityHeader,
  internalIdentity,
  verifyIdentity,
} from '@backlot/identity';
import type { RequestHandler } from 'express';

/** Stands in front of paths that answer the platform's own questions, never a caller's. */
export const internalOnly =
  (secret: IdentitySecret, now: () => number): RequestHandler =>
  (req, _res, next) => {
    try {
      const { caller, project } = verifyIdentity(req.headers[identityHeader], secret, now());
      if (caller === internalIdentity.caller && project.number === internalIdentity.project.number)
        return next();
    } catch (error) {
      if (!(error instanceof IdentityInvalid)) throw error;
    }
    throw new ApiError('unauthenticated', 'This path answers the platform only.');
  };
