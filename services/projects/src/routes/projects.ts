import { ApiError, projectRoutes } from '@backlot/contract';
import { type MountedRoute, noteAct, route } from '@backlot/http';
import type { Deletion } from '../projects/deletion.ts';
import type { Limits } from '../projects/limits.ts';
import type { ListProjects } from '../projects/list-projects.ts';
import type { NewProjects } from '../projects/new-projects.ts';
import type { Projects } from '../projects/projects.ts';
import { toScope } from '../projects/scope.ts';

export interface ProjectRoutesDeps {
  projects: Projects;
  newProjects: NewProjects;
  listProjects: ListProjects;
  deletion: Deletion;
  limits: Limits;
}

/** Projects, their settings and their limits. */
export const routesForProjects = ({
  projects,
  newProjects,
  listProjects,
  deletion,
  limits,
}: ProjectRoutesDeps): MountedRoute[] => [
  route(
    projectRoutes.createProject,
    async ({ body, identity }) => {
      if (identity.userId === null)
        throw new ApiError('unauthenticated', 'Sign in as an owner first.');
      const create = await newProjects.prepare({ ownerId: identity.userId, ...body });
      return {
        transact: async () => {
          const made = await create();
          await noteAct({ projectId: made.id });
          return { body: made };
        },
      };
    },
    { isSlow: true },
  ),
  route(projectRoutes.listProjects, async ({ query, identity }) => ({
    body: await listProjects(identity.userId, identity.caller === 'operator', query),
  })),
  route(projectRoutes.getProject, async ({ identity }) => ({
    body: await projects.get(toScope(identity)),
  })),
  route(projectRoutes.updateProject, async ({ body, identity }) => ({
    body: await projects.update(toScope(identity), body),
  })),
  route(projectRoutes.deleteProject, async ({ identity }) => {
    await deletion.remove(toScope(identity));
    return { body: { ok: true as const } };
  }),
  route(projectRoutes.restoreProject, async ({ identity }) => ({
    body: await deletion.restore(toScope(identity)),
  })),
  route(projectRoutes.getLimits, async ({ identity }) => ({
    body: await limits.get(toScope(identity)),
  })),
  route(projectRoutes.setLimits, async ({ body, identity }) => ({
    body: await limits.set(toScope(identity), body),
  })),
];
