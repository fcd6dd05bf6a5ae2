import {
  ApiError,
  type RoleAndGroups,
  type RouteQuery,
  recordRoutes,
  type UserDirectory,
} from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { resolveAccess } from '../collections/access.ts';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';

const nobody = { userId: null, sessionId: null, keyId: null } as const;

/**
 * What the user is and belongs to, but for what the question supposes.
 * @throws ApiError not_found, unavailable
 */
const findRoleAndGroups = async (
  users: UserDirectory,
  projectNumber: number,
  userId: string,
  supposed: Pick<RouteQuery<typeof recordRoutes.checkAccess>, 'role' | 'groups'>,
): Promise<RoleAndGroups> => {
  const { role } = supposed;
  const groups = supposed.groups?.map((id) => ({ id, role: '' }));
  if (role !== undefined && groups) return { role, groups };
  const found = await users.findRoleAndGroups(projectNumber, userId).catch((cause: unknown) => {
    const message = 'Accounts can not be asked right now. Try again shortly.';
    throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
  });
  if (!found) throw new ApiError('not_found', 'There is no such user.');
  return { role: role ?? found.role, groups: groups ?? found.groups };
};

export interface CheckAccessDeps {
  collections: Collections;
  checks: AccessChecks;
  users: UserDirectory;
  reads: FairShares;
}

export const checkAccess = ({ collections, checks, users, reads }: CheckAccessDeps) =>
  route(recordRoutes.checkAccess, async (call) => {
    const { query, identity } = call;
    const { as, record: recordId } = query;
    const { project, ip } = identity;
    const collection = await collections.find(project.number, query.collection);
    if (!collection) throw new ApiError('not_found', 'There is no such collection.');
    const userId = as === 'anonymous' ? null : as.slice('user:'.length).toLowerCase();
    const caller: Identity =
      userId === null
        ? { project, caller: 'anonymous', ...nobody, ip }
        : {
            project,
            caller: 'user',
            ...nobody,
            userId,
            ip,
            ...(await findRoleAndGroups(users, project.number, userId, query)),
          };
    const access = resolveAccess(collection.access, caller);
    const { role } = caller;
    const kind = { isUser: userId !== null, role, hasGroups: access.groupIds.length > 0 };
    const question = { collection, access, caller: kind, recordId };
    const body = await reads.run(toRequester(identity), () => checks.check(question), call);
    return { body: { as, ...body } };
  });
