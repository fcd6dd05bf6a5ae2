import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** The project that a call is about, and whose projects its caller may touch. */
export interface ProjectScope {
  projectNumber: number;
  /** Null matches no owner. */
  ownerId: string | null;
  /** The operator: any owner's project, and those of nobody. */
  anyOwner: boolean;
}

export const projectNotFound = () => new ApiError('project_not_found', 'There is no such project.');
export const projectDeleted = () =>
  new ApiError('project_deleted', 'This project was deleted.', {
    hint: 'It can be restored for a while.',
  });

/**
 * The gateway has put the project of the path into the identity; a path that says another one is
 * answered as unknown.
 */
export const scopeOf = (identity: Identity, projectId: string): ProjectScope => {
  if (identity.project.id !== projectId) throw projectNotFound();
  return {
    projectNumber: identity.project.number,
    ownerId: identity.userId,
    anyOwner: identity.caller === 'operator',
  };
};

/** Belongs into every statement of these routes, over the first three values. */
export const inScope = 'number = $1 AND (owner_id = $2 OR $3)';
export const scopeValues = (scope: ProjectScope) =>
  [scope.projectNumber, scope.ownerId, scope.anyOwner] as const;
