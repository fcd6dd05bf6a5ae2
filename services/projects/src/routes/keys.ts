import { projectRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Keys } from '../projects/keys.ts';
import { toScope } from '../projects/scope.ts';

/** Secret keys of a project. */
export const routesForKeys = (keys: Keys): MountedRoute[] => [
  route(projectRoutes.createKey, async ({ body, identity }) => ({
    body: await keys.create(toScope(identity), body),
  })),
  route(projectRoutes.listKeys, async ({ query, identity }) => ({
    body: await keys.list(toScope(identity), query),
  })),
  route(projectRoutes.deleteKey, async ({ params, identity }) => {
    await keys.revoke(toScope(identity), params.keyId);
    return { body: { ok: true as const } };
  }),
];
