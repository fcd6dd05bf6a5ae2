import { groupRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentGroup } from '../groups/groups.ts';

export const inviteToGroup = ({ invites, attempts, counters }: Features) =>
  route(groupRoutes.inviteToGroup, async ({ params, body, identity }) => {
    const { project, userId, ip } = identity;
    const invite = await attempts.countCalls(project.number, counters.invites(userId, ip), () =>
      invites.create(identity, params.groupId, body),
    );
    return { body: invite };
  });

export const listGroupInvites = ({ invites }: Features) =>
  route(groupRoutes.listGroupInvites, async ({ params, identity }) => ({
    body: {
      items: await invites.list(identity, params.groupId),
      hasMore: false,
      nextCursor: null,
    },
  }));

export const revokeGroupInvite = ({ invites }: Features) =>
  route(groupRoutes.revokeGroupInvite, async ({ params, identity }) => {
    await invites.revoke(identity, params.groupId, params.inviteId);
    return { body: { ok: true as const } };
  });

export const showInvitation = ({ invites }: Features) =>
  route(groupRoutes.showInvitation, async ({ body: { token }, identity }) => ({
    body: await invites.show(identity.project.number, token),
  }));

export const joinGroup = ({ invites }: Features) =>
  route(groupRoutes.joinGroup, async ({ body: { token }, identity }) => ({
    body: presentGroup(await invites.join(identity, token)),
  }));
