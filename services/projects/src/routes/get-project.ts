import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Projects } from '../projects.ts';
import { scopeOf } from '../scope.ts';

export const getProject = (projects: Projects) =>
  route(projectRoutes.getProject, async ({ params, identity }) => ({
    body: await projects.get(scopeOf(identity, params.projectId)),
  }));
