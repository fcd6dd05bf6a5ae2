import { ApiError, type ProjectDirectory } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { fileNotFound } from './file.ts';

/** What can stand in a header's list of sources as it is. */
const plainOrigin = /^https?:\/\/[\w.:[\]-]+$/;

/**
 * The origins of an app's pages, where its owner lists any; else undefined. Lists: the signed identity
 * leaves them out. @throws ApiError unavailable
 */
export const createAppOrigins =
  (projects: ProjectDirectory) =>
  async ({ id }: Identity['project']): Promise<readonly string[] | undefined> => {
    const project = await projects.findProject(id).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'The project can not be looked up. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    });
    if (!project) throw fileNotFound();
    const { allowedOrigins = [] } = project.settings;
    if (allowedOrigins.length === 0) return undefined;
    const origins = new Set([...allowedOrigins, ...(project.verifiedOrigins ?? [])]);
    return [...origins].filter((origin) => plainOrigin.test(origin));
  };

export type AppOrigins = ReturnType<typeof createAppOrigins>;
