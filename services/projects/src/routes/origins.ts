import { originRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { Origins } from '../origins/origins.ts';
import { toScope } from '../projects/scope.ts';

/** Origins of a project's app, and their proof. */
export const routesForOrigins = (origins: Origins): MountedRoute[] => [
  route(originRoutes.addOrigin, async ({ body, identity }) => ({
    body: await origins.add(toScope(identity), body.origin),
  })),
  route(originRoutes.listOrigins, async ({ identity }) => ({
    body: {
      items: await origins.list(toScope(identity)),
      hasMore: false as const,
      nextCursor: null,
    },
  })),
  route(
    originRoutes.verifyOrigin,
    async ({ params, identity }) => {
      const store = await origins.prepareCheck(identity, params.originId);
      return { transact: async () => ({ body: await store() }) };
    },
    { isSlow: true },
  ),
  route(originRoutes.removeOrigin, async ({ params, identity }) => {
    await origins.remove(toScope(identity), params.originId);
    return { body: { ok: true as const } };
  }),
];
