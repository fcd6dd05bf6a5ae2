import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Deletion } from '../deletion.ts';
import { scopeOf } from '../scope.ts';

export const restoreProject = (deletion: Deletion) =>
  route(projectRoutes.restoreProject, async ({ params, identity }) => ({
    body: await deletion.restore(scopeOf(identity, params.projectId)),
  }));
