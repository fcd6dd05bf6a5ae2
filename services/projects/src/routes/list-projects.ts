import { projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Projects } from '../projects.ts';

export const listProjects = (projects: Projects) =>
  route(projectRoutes.listProjects, async ({ query, identity }) => ({
    body: await projects.list(identity.userId, identity.caller === 'operator', query),
  }));
