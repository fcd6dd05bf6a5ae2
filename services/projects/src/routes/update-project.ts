import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Projects } from '../projects.ts';
import { scopeOf } from '../scope.ts';

export const updateProject = (projects: Projects) =>
  route(projectRoutes.updateProject, async ({ params, body, identity }) => ({
    body: await projects.update(scopeOf(identity, params.projectId), body),
  }));
