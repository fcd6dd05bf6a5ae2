import { ApiError, recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { resolveAccess } from '../collections/access.ts';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';

const nobody = { userId: null, sessionId: null, keyId: null } as const;

export const checkAccess = (collections: Collections, checks: AccessChecks) =>
  route(recordRoutes.checkAccess, async ({ query, identity }) => {
    const { as, role, groups: groupIds = [], record: recordId } = query;
    const { project, ip } = identity;
    const collection = await collections.find(project.number, query.collection);
    if (!collection) throw new ApiError('not_found', 'There is no such collection.');
    const userId = as === 'anonymous' ? null : as.slice('user:'.length).toLowerCase();
    const groups = groupIds.map((id) => ({ id, role: '' }));
    const caller: Identity =
      userId === null
        ? { project, caller: 'anonymous', ...nobody, ip }
        : { project, caller: 'user', ...nobody, userId, role, groups, ip };
    const access = resolveAccess(collection.access, caller);
    const kind = { isUser: userId !== null, role, hasGroups: access.groupIds.length > 0 };
    const body = await checks.check({ collection, access, caller: kind, recordId });
    return { body: { as, ...body } };
  });
