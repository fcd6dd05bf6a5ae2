import { platformUsageRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { CallSums } from '../call-sums/call-sums.ts';

/** What the operator sees of the calls of all projects. */
export const routesForPlatformUsage = (callSums: CallSums): MountedRoute[] => [
  route(platformUsageRoutes.getPlatformUsage, async ({ query }) => ({
    body: await callSums.top(query),
  })),
];
