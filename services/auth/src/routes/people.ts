import { groupRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';

export const findUsers = ({ members }: Features) =>
  route(groupRoutes.findUsers, async ({ query: { ids }, identity }) => ({
    body: { items: await members.findPeople(identity, ids), hasMore: false, nextCursor: null },
  }));

export const setUserRole = ({ users }: Features) =>
  route(groupRoutes.setUserRole, async ({ params, body: { role }, identity }) => {
    const { id, name, avatar } = await users.update(identity.project.number, params.userId, {
      role,
    });
    return { body: { id, name, avatar, role } };
  });
