import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Keys } from '../keys.ts';
import { scopeOf } from '../scope.ts';

export const createKey = (keys: Keys) =>
  route(projectRoutes.createKey, async ({ params, body, identity }) => ({
    body: await keys.create(scopeOf(identity, params.projectId), body.name),
  }));
