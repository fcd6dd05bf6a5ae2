import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  fieldsKeptFromKeys,
  keptField,
  neededRole,
  type Power,
  type RouteDefinition,
  roleInWords,
  roleReaches,
} from '@backlot/contract';
import {
  hasPower,
  type Identity,
  IdentityInvalid,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import { identityRefused } from '../internal-only.ts';

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
export const checkCaller = (
  definition: RouteDefinition,
  identity: Pick<Identity, 'caller'>,
): void => {
  if (definition.callers.includes(identity.caller)) return;
  if (identity.caller === 'anonymous') throw new ApiError('unauthenticated', 'Sign in first.');
  const { summary, callers } = definition;
  throw new ApiError('forbidden', `This call is not open to the caller "${identity.caller}".`, {
    hint: `${summary}: for ${callers.join(', ')}.`,
  });
};

/** Why a member's role does not reach so far; undefined where it does, and of all who are no members. */
export const refuseRole = (
  definition: RouteDefinition,
  caller: Identity['caller'],
  memberRole: Identity['memberRole'],
): ApiError | undefined => {
  if (caller !== 'owner' || !memberRole) return undefined;
  const needed = neededRole(definition);
  if (needed === null || roleReaches(memberRole, needed)) return undefined;
  return new ApiError(
    'forbidden',
    `This call takes ${roleInWords(needed)} of the project; you are ${roleInWords(memberRole)}.`,
    { hint: 'The owner and the admins of a project give members their roles.' },
  );
};

/** @throws ApiError forbidden where a member's role does not reach so far */
export const checkRole = (definition: RouteDefinition, identity: Identity): void => {
  const refusal = refuseRole(definition, identity.caller, identity.memberRole);
  if (refusal) throw refusal;
};

/** A good session that may only read what anyone reads is not told to sign in, which would not help. */
export const forBlocked = (error: unknown): unknown =>
  error instanceof ApiError && error.code === 'unauthenticated'
    ? new ApiError('blocked', 'This account is blocked: it reads what anyone reads, and no more.', {
        hint: 'GET /auth/me tells the reason.',
      })
    : error;

/** @throws ApiError forbidden where a key, or an editor, names a field that both leave to the owner */
export const checkFields = (
  definition: RouteDefinition,
  { caller, memberRole }: Identity,
  body: unknown,
): void => {
  const isHeld = caller === 'key' || memberRole === 'editor';
  const field = isHeld ? keptField(definition, body) : undefined;
  if (field === undefined) return;
  throw new ApiError(
    'forbidden',
    `"${field}": no ${caller === 'key' ? 'secret key' : 'editor'} may set it; the owner can.`,
    {
      hint: `Keys and editors leave these to the owner: ${fieldsKeptFromKeys[definition.operationId]?.join(', ')}.`,
    },
  );
};

/**
 * A call of the control plane may be about one project. The gateway has put it into the identity; it must
 * be the one that the path names, and the caller its owner, a member, one of its keys or the operator.
 * @throws ApiError project_not_found
 */
export const checkProject = (
  { plane }: RouteDefinition,
  { project, caller, userId, memberRole }: Identity,
  { projectId }: Record<string, string>,
): void => {
  if (plane !== 'platform' || projectId === undefined) return;
  const mayEnter =
    caller === 'operator' ||
    caller === 'key' ||
    memberRole !== undefined ||
    (userId !== null && userId === project.ownerId);
  if (mayEnter && projectId === project.id) return;
  throw new ApiError('project_not_found', 'There is no such project.');
};

/** @param what the caller may not do, as the message ends. @throws ApiError forbidden */
export const requirePower = (identity: Identity, power: Power, what: string): void => {
  if (hasPower(identity, power)) return;
  const { project, role = 'user' } = identity;
  // Everybody is a user: that role gets no powers.
  const given = role === 'user' ? '<role>' : role;
  throw new ApiError('forbidden', `Your role may not ${what}.`, {
    hint: `The owner of the app can let it: PUT /api/platform/projects/${project.id}/roles/${given} {"may": ["${power}"]}.`,
  });
};
