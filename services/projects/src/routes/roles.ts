import { projectRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Roles } from '../projects/roles.ts';
import { toScope } from '../projects/scope.ts';

/** What the users of roles may. */
export const routesForRoles = (roles: Roles): MountedRoute[] => [
  route(projectRoutes.listRoles, async ({ identity }) => ({
    body: { items: await roles.list(toScope(identity)), hasMore: false, nextCursor: null },
  })),
  route(projectRoutes.setRole, async ({ params: { name }, body: { may }, identity }) => ({
    body: await roles.set(toScope(identity), { name, may }),
  })),
  route(projectRoutes.deleteRole, async ({ params: { name }, identity }) => {
    await roles.remove(toScope(identity), name);
    return { body: { ok: true as const } };
  }),
];
