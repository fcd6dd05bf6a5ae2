import { projectRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Invitations } from '../members/invitations.ts';
import type { Members } from '../members/members.ts';
import { toScope } from '../projects/scope.ts';

const asList = <Item>(items: Item[]) => ({ items, hasMore: false, nextCursor: null });
const done = { body: { ok: true as const } };

/** Who works on a project beside its owner, and who is invited to. */
export const routesForMembers = (members: Members, invitations: Invitations): MountedRoute[] => [
  route(projectRoutes.listMembers, async ({ identity }) => ({
    body: asList(await members.list(toScope(identity))),
  })),
  route(projectRoutes.setMemberRole, async ({ params: { userId }, body: { role }, identity }) => ({
    body: await members.setRole(toScope(identity), userId, role),
  })),
  route(projectRoutes.removeMember, async ({ params: { userId }, identity }) => {
    await members.remove(toScope(identity), userId);
    return done;
  }),
  route(projectRoutes.leaveProject, async ({ identity }) => {
    await members.leave(toScope(identity));
    return done;
  }),
  route(
    projectRoutes.inviteMember,
    async ({ body, identity }) => {
      const create = await invitations.prepare(identity, body);
      return { transact: async () => ({ body: await create() }) };
    },
    { isSlow: true },
  ),
  route(projectRoutes.listMemberInvitations, async ({ identity }) => ({
    body: asList(await invitations.list(toScope(identity))),
  })),
  route(
    projectRoutes.resendMemberInvitation,
    async ({ params: { invitationId }, identity }) => {
      const send = await invitations.prepareAgain(identity, invitationId);
      return { transact: async () => ({ body: await send() }) };
    },
    { isSlow: true },
  ),
  route(projectRoutes.revokeMemberInvitation, async ({ params: { invitationId }, identity }) => {
    await invitations.revoke(toScope(identity), invitationId);
    return done;
  }),
  route(projectRoutes.showMemberInvitation, async ({ body: { token }, identity }) => ({
    body: await invitations.show(identity, token),
  })),
  route(
    projectRoutes.acceptMemberInvitation,
    async ({ body: { token }, identity }) => {
      const join = await invitations.accept(identity, token);
      return { transact: async () => ({ body: await join() }) };
    },
    { isSlow: true },
  ),
];
