import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Keys } from '../keys.ts';
import { scopeOf } from '../scope.ts';

export const listKeys = (keys: Keys) =>
  route(projectRoutes.listKeys, async ({ params, query, identity }) => ({
    body: await keys.list(scopeOf(identity, params.projectId), query),
  }));
