import { ApiError, platformProject } from '@backlot/contract';
import type { KnownProject } from '../directory/known-project.ts';
import type { LookupCache } from '../directory/lookup-cache.ts';

/** Anything else names no project and is not looked up. */
const possibleId = /^[A-Za-z0-9_-]{1,64}$/;

export const projectNotFound = () => new ApiError('project_not_found', 'There is no such project.');
export const projectDeleted = () => new ApiError('project_deleted', 'This project was deleted.');

export interface FindProject {
  /** The project, without a promise when it is known already; null when there is none. */
  byId(id: string): KnownProject | null | Promise<KnownProject | null>;
  /** The project that the control plane counts in. */
  platform(): KnownProject | Promise<KnownProject>;
}

export const createFindProject = (projects: LookupCache<KnownProject>): FindProject => {
  const byId = (id: string) => {
    const known = projects.peek(id);
    if (known !== undefined) return known;
    return possibleId.test(id) ? projects.load(id) : null;
  };
  const mustExist = (platform: KnownProject | null): KnownProject => {
    if (!platform)
      throw new ApiError('unavailable', 'The platform is being set up.', { retryAfterSeconds: 2 });
    return platform;
  };
  return {
    byId,
    platform() {
      const platform = byId(platformProject.id);
      return platform instanceof Promise ? platform.then(mustExist) : mustExist(platform);
    },
  };
};

/** @throws ApiError project_not_found, project_deleted, project_paused */
export const checkServing = (project: KnownProject | null): KnownProject => {
  if (!project) throw projectNotFound();
  if (project.status === 'deleted') throw projectDeleted();
  if (project.status === 'paused')
    throw new ApiError('project_paused', 'The owner has paused this project.');
  return project;
};
