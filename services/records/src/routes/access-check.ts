import {
  ApiError,
  type RoleAndGroups,
  type RouteQuery,
  recordRoutes,
  type UserDirectory,
} from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import { resolveAccess, toCallerKind } from '../collections/access.ts';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';

/**
 * What the user is and belongs to, but for what the question supposes.
 * @throws ApiError not_found, unavailable
 */
export const findRoleAndGroups = async (
  users: UserDirectory,
  projectNumber: number,
  userId: string,
  supposed: Pick<RouteQuery<typeof recordRoutes.checkAccess>, 'role' | 'groups' | 'verified'> = {},
): Promise<RoleAndGroups> => {
  const { role, groups } = supposed;
  const { verified } = supposed;
  const emailVerified = verified === undefined ? undefined : isSet(verified);
  if (role !== undefined && groups) return { role, groups, emailVerified: emailVerified ?? false };
  const found = await users.findRoleAndGroups(projectNumber, userId).catch((cause: unknown) => {
    const message = 'Accounts can not be asked right now. Try again shortly.';
    throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
  });
  if (!found) throw new ApiError('not_found', 'There is no such user.');
  return {
    role: role ?? found.role,
    groups: groups ?? found.groups,
    emailVerified: emailVerified ?? found.emailVerified ?? false,
  };
};

const isSet = (flag: string) => flag === '1' || flag === 'true';

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
    const { project } = identity;
    const collection = await collections.find(project.number, query.collection);
    if (!collection) throw new ApiError('not_found', 'There is no such collection.');
    const userId = as === 'anonymous' ? null : as.slice('user:'.length).toLowerCase();
    const asker =
      userId === null
        ? ({ caller: 'anonymous', userId } as const)
        : {
            caller: 'user' as const,
            userId,
            ...(await findRoleAndGroups(users, project.number, userId, query)),
          };
    const access = resolveAccess(collection.access, asker);
    const question = { collection, access, caller: toCallerKind(asker), recordId };
    const body = await reads.run(toRequester(identity), () => checks.check(question), call);
    return { body: { as, ...body } };
  });
