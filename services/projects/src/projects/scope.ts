import { ApiError, type GivenRole, type MemberRole } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type ExpressionBuilder, sql } from 'kysely';
import type { DB as Tables } from '../tables.ts';

/** The project that a call is about, and whose projects its caller may touch. */
export interface ProjectScope {
  projectNumber: number;
  /** The account that calls, or of a key that of its project's owner; null matches nobody. */
  ownerId: string | null;
  /** What the account is in the project; absent from others. */
  role?: MemberRole;
  /** The operator: any owner's project, and those of nobody. */
  anyOwner: boolean;
}

export const projectNotFound = () => new ApiError('project_not_found', 'There is no such project.');
export const projectDeleted = () =>
  new ApiError('project_deleted', 'This project was deleted.', {
    hint: 'It can be restored for a while.',
  });

/** A key acts for the owner of its project, in that project alone. */
export const toScope = ({ project, userId, memberRole, caller }: Identity): ProjectScope => ({
  projectNumber: project.number,
  ownerId: caller === 'key' ? project.ownerId : userId,
  anyOwner: caller === 'operator',
  ...(caller === 'owner' && { role: memberRole ?? 'owner' }),
});

/** The project whose members work on this one: of a preview the one that it stands beside. */
const membersOf = sql<number>`coalesce(
  (SELECT r.number FROM projects r WHERE r.id = projects.preview_of), projects.number)`;

/** What an account is in the project of the row; null where it is nothing. */
export const roleOf = (userId: string | null) =>
  sql<GivenRole | null>`(SELECT m.role FROM project_members m
    WHERE m.project_number = ${membersOf} AND m.user_id = ${userId}::uuid)`;

/** Belongs into every statement of these routes. */
export const inScope =
  ({ projectNumber, ownerId, anyOwner }: ProjectScope) =>
  ({ and, eb, lit, or, val }: ExpressionBuilder<Tables, 'projects'>) =>
    and([
      eb('projects.number', '=', projectNumber),
      anyOwner
        ? lit(true)
        : or([eb('projects.owner_id', '=', val(ownerId)), eb(roleOf(ownerId), 'is not', null)]),
    ]);
