import type { GivenRole } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { sql } from 'kysely';
import type { DB as Tables } from '../tables.ts';
import { isProjectId } from './project-id.ts';
import {
  type PresentProject,
  type Project,
  type ProjectRow,
  projectColumns,
} from './project-row.ts';
import { roleOf } from './scope.ts';

export interface ProjectsQuery extends PageQuery {
  /** How name or id begin. */
  q?: string | undefined;
  /** The whole name, in any case. */
  name?: string | undefined;
  externalId?: string | undefined;
  status?: Project['status'] | undefined;
  ownerId?: string | undefined;
}

type ListedRow = ProjectRow & { memberRole: GivenRole | null };

/** An account's own projects, and those that it is a member of, with their previews. */
const isAmongThoseOf = (
  userId: string | null,
) => sql<boolean>`(owner_id = ${userId}::uuid OR deleted_at IS NULL)
  AND number = ANY (ARRAY(
    SELECT number FROM projects WHERE owner_id = ${userId}::uuid
    UNION ALL SELECT project_number FROM project_members WHERE user_id = ${userId}::uuid
    UNION ALL SELECT p.number FROM project_members m JOIN projects r ON r.number = m.project_number
      JOIN projects p ON p.preview_of = r.id WHERE m.user_id = ${userId}::uuid))`;

export const createListProjects = (database: Database, present: PresentProject) => {
  const queries = createQueries<Tables>(database);
  /** Deleted projects are listed: they can be restored. @throws ApiError invalid_cursor */
  return async (
    ownerId: string | null,
    anyOwner: boolean,
    { q, name, externalId, status, ownerId: wanted, ...query }: ProjectsQuery,
  ): Promise<Page<Project>> => {
    const begins = (column: 'name' | 'id') =>
      sql<boolean>`starts_with(lower(${sql.ref(column)}), lower(${q}))`;
    const all = queries
      .selectFrom('projects')
      .select(projectColumns)
      .where('importing_until', 'is', null)
      .$if(q !== undefined, (some) => some.where(({ or }) => or([begins('name'), begins('id')])))
      .$if(name !== undefined, (some) => some.where(sql<boolean>`lower(name) = lower(${name})`))
      .$if(externalId !== undefined, (some) => some.where('external_id', '=', externalId as string))
      .$if(status === 'deleted', (some) => some.where('deleted_at', 'is not', null))
      .$if(status === 'active' || status === 'paused', (some) =>
        some.where('deleted_at', 'is', null).where('status', '=', status as string),
      )
      .$if(wanted !== undefined, (some) =>
        some.where(({ eb, val }) => eb('owner_id', '=', val(wanted ?? null))),
      );
    const owned = anyOwner ? all : all.where(isAmongThoseOf(ownerId));
    const read = (after: Position | undefined, count: number) => {
      const page = after
        ? owned.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
          )
        : owned;
      return page
        .select(roleOf(ownerId).as('memberRole'))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(count)
        .execute();
    };
    const show = ({ memberRole, ...row }: ListedRow) =>
      present(row, memberRole ?? (anyOwner ? undefined : 'owner'));
    return readPage('projects', query, read, show, isProjectId);
  };
};

export type ListProjects = ReturnType<typeof createListProjects>;
