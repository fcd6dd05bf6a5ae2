import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { ExpressionBuilder } from 'kysely';
import type { DB as Tables } from '../tables.ts';

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

/** A key acts for the owner of its project, in that project alone. */
export const toScope = ({ project, userId, caller }: Identity): ProjectScope => ({
  projectNumber: project.number,
  ownerId: caller === 'key' ? project.ownerId : userId,
  anyOwner: caller === 'operator',
});

/** Belongs into every statement of these routes. */
export const inScope =
  ({ projectNumber, ownerId, anyOwner }: ProjectScope) =>
  ({ and, eb, lit, or, val }: ExpressionBuilder<Tables, 'projects'>) =>
    and([
      eb('projects.number', '=', projectNumber),
      anyOwner ? lit(true) : or([eb('projects.owner_id', '=', val(ownerId))]),
    ]);
