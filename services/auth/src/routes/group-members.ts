import { groupRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';

export const listGroupMembers = ({ members }: Features) =>
  route(groupRoutes.listGroupMembers, async ({ params, query, identity }) => ({
    body: await members.list(identity, params.groupId, query),
  }));

export const updateGroupMember = ({ members }: Features) =>
  route(groupRoutes.updateGroupMember, async ({ params, body: { role }, identity }) => ({
    body: await members.setRole(identity, params.groupId, params.userId, role),
  }));

export const removeGroupMember = ({ members }: Features) =>
  route(groupRoutes.removeGroupMember, async ({ params, identity }) => {
    await members.remove(identity, params.groupId, params.userId);
    return { body: { ok: true as const } };
  });
