import { groupRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';

export const findUsers = ({ people, seenUsers }: Features) =>
  route(groupRoutes.findUsers, async ({ query, identity }) => {
    const { ids } = query;
    if (ids === undefined) return { body: await seenUsers.list(identity, query) };
    const { project, caller, userId } = identity;
    const items = await people.find({
      projectNumber: project.number,
      caller,
      userId,
      ids,
      hasPublicProfiles: project.settings.publicProfiles !== false,
    });
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const moderateUser = ({ users, blocks }: Features) =>
  route(groupRoutes.moderateUser, async ({ params, body, identity }) => {
    const user = users.present(await blocks.moderate(identity, params.userId, body));
    const { id, name, avatar, role, blocked } = user;
    return { body: { id, name, avatar, role, ...(blocked && { blocked }) } };
  });
