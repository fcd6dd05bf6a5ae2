import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Limits } from '../limits.ts';
import { scopeOf } from '../scope.ts';

export const setLimits = (limits: Limits) =>
  route(projectRoutes.setLimits, async ({ params, body, identity }) => ({
    body: await limits.set(scopeOf(identity, params.projectId), body),
  }));
