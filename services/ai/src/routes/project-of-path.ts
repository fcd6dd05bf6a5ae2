import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/**
 * The number of the project that a path of the control plane names. The gateway has put it into the
 * identity and has checked who owns it.
 * @throws ApiError project_not_found where path and identity differ
 */
export const projectOfPath = ({ project }: Identity, projectId: string): number => {
  if (project.id === projectId) return project.number;
  throw new ApiError('project_not_found', 'There is no such project.');
};
