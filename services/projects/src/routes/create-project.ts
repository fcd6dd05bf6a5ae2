import { ApiError, projectRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Projects } from '../projects.ts';

export const createProject = (projects: Projects) =>
  route(projectRoutes.createProject, async ({ body, identity }) => {
    if (identity.userId === null)
      throw new ApiError('unauthenticated', 'Sign in as an owner first.');
    return { body: await projects.create({ ownerId: identity.userId, ...body }) };
  });
