import { groupRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentGroup } from '../groups/groups.ts';

export const createGroup = ({ groups, attempts, counters }: Features) =>
  route(groupRoutes.createGroup, async ({ body, identity }) => {
    const { project, caller, ip } = identity;
    const create = () => groups.create(identity, body);
    const group = await (caller === 'user'
      ? attempts.countCalls(project.number, counters.groupsFrom(ip), create)
      : create());
    return { body: presentGroup(group) };
  });

export const listGroups = ({ groups }: Features) =>
  route(groupRoutes.listGroups, async ({ query, identity }) => ({
    body: await groups.list(identity, query),
  }));

export const getGroup = ({ groups }: Features) =>
  route(groupRoutes.getGroup, async ({ params, identity }) => ({
    body: presentGroup(await groups.find(identity, params.groupId)),
  }));

export const updateGroup = ({ groups }: Features) =>
  route(groupRoutes.updateGroup, async ({ params, body: { name }, identity }) => ({
    body: presentGroup(await groups.rename(identity, params.groupId, name)),
  }));

export const deleteGroup = ({ groups }: Features) =>
  route(groupRoutes.deleteGroup, async ({ params, identity }) => {
    await groups.remove(identity, params.groupId);
    return { body: { ok: true as const } };
  });
