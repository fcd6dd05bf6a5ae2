import { operatorRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { ParkedEvents } from '../operators/parked-events.ts';

/** Events that a service could not handle. */
export const routesForParkedEvents = (parked: ParkedEvents): MountedRoute[] => [
  route(operatorRoutes.listParkedEvents, async ({ query }) => ({ body: await parked.list(query) })),
  route(operatorRoutes.getParkedEvent, async ({ params }) => ({
    body: await parked.show(params.service, params.parkedId),
  })),
  route(operatorRoutes.replayParkedEvent, async ({ params }) => {
    await parked.replay(params.service, params.parkedId);
    return { body: { ok: true as const } };
  }),
  route(operatorRoutes.dropParkedEvent, async ({ params }) => {
    await parked.drop(params.service, params.parkedId);
    return { body: { ok: true as const } };
  }),
];
