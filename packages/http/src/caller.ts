import type { IncomingMessage } from 'node:http';
import { ApiError, fieldsKeptFromKeys, keptField, type RouteDefinition } from '@backlot/contract';
import {
  type Identity,
  IdentityInvalid,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import { identityRefused } from './internal-only.ts';

/** Who calls this route. @throws ApiError unauthenticated where the gateway does not vouch for it */
export const identify = (
  req: IncomingMessage,
  { operationId }: RouteDefinition,
  { identities }: { identities: IdentityVerifier },
): Identity => {
  try {
    return identities.verify(req.headers[identityHeader], operationId);
  } catch (error) {
    throw error instanceof IdentityInvalid ? identityRefused(error) : error;
  }
};

/** @throws ApiError unauthenticated, forbidden */
export const checkCaller = (definition: RouteDefinition, identity: Identity): void => {
  if (definition.callers.includes(identity.caller)) return;
  if (identity.caller === 'anonymous') throw new ApiError('unauthenticated', 'Sign in first.');
  const { summary, callers } = definition;
  throw new ApiError('forbidden', `This call is not open to the caller "${identity.caller}".`, {
    hint: `${summary}: for ${callers.join(', ')}.`,
  });
};

/** @throws ApiError forbidden where a key names a field that keys leave to the owner */
export const checkFields = (
  definition: RouteDefinition,
  { caller }: Identity,
  body: unknown,
): void => {
  const field = caller === 'key' ? keptField(definition, body) : undefined;
  if (field === undefined) return;
  throw new ApiError('forbidden', `"${field}": no secret key may set it; the owner can.`, {
    hint: `Keys leave these to the owner: ${fieldsKeptFromKeys[definition.operationId]?.join(', ')}.`,
  });
};

/**
 * A call of the control plane may be about one project. The gateway has put it into the identity; it must
 * be the one that the path names, and the caller its owner, one of its keys or the operator.
 * @throws ApiError project_not_found
 */
export const checkProject = (
  { plane }: RouteDefinition,
  { project, caller, userId }: Identity,
  { projectId }: Record<string, string>,
): void => {
  if (plane !== 'platform' || projectId === undefined) return;
  const mayEnter =
    caller === 'operator' || caller === 'key' || (userId !== null && userId === project.ownerId);
  if (mayEnter && projectId === project.id) return;
  throw new ApiError('project_not_found', 'There is no such project.');
};
