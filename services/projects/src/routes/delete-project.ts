import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Deletion } from '../deletion.ts';
import { scopeOf } from '../scope.ts';

export const deleteProject = (deletion: Deletion) =>
  route(projectRoutes.deleteProject, async ({ params, identity }) => {
    await deletion.remove(scopeOf(identity, params.projectId));
    return { body: { ok: true as const } };
  });
