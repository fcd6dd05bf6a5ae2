import { ApiError, type ProjectDirectory, type ProjectSnapshot } from '@backlot/contract';

export type FindProject = ReturnType<typeof createFindProject>;

/** For settings that are lists: the signed identity leaves them out. */
export const createFindProject =
  (projects: ProjectDirectory) =>
  /** @throws ApiError unavailable */
  async (projectId: string): Promise<ProjectSnapshot | null> => {
    try {
      return await projects.findProject(projectId);
    } catch (cause) {
      throw new ApiError('unavailable', 'The project can not be looked up. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    }
  };
