import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/**
 * Of the project that a call of the control plane is about. The gateway has put it into the identity, for
 * its owner and the operator alone. @throws ApiError project_not_found where the path says another one
 */
export const projectNumberOf = ({ project, caller, userId }: Identity, projectId: string) => {
  const mayTouch = caller === 'operator' || (userId !== null && project.ownerId === userId);
  if (project.id === projectId && mayTouch) return project.number;
  throw new ApiError('project_not_found', 'There is no such project.');
};
