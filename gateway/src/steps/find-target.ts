import type { RouteDefinition } from '@backlot/contract';
import type { KnownProject } from '../directory/known-project.ts';
import type { Caller } from './authenticate.ts';
import { projectDeleted, projectNotFound } from './find-project.ts';

/** The one call that a deleted project still takes. */
const servesDeleted = 'restoreProject';

/**
 * Whether this caller may see the project that a call of the control plane is about. Another owner's
 * project looks like none.
 * @throws ApiError project_not_found, project_deleted
 */
export const checkTarget = (
  target: KnownProject | null,
  caller: Caller,
  definition: RouteDefinition,
): KnownProject => {
  if (!target || (caller.kind !== 'operator' && target.ownerId !== caller.userId))
    throw projectNotFound();
  if (target.status === 'deleted' && definition.operationId !== servesDeleted)
    throw projectDeleted();
  return target;
};
