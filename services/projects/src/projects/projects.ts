import { ApiError, type EventPayloads, platformProject } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { sql } from 'kysely';
import type { ProjectsConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';
import { claimExternalId } from './external-id.ts';
import {
  createPresentProject,
  type Project,
  type ProjectRow,
  projectColumns,
} from './project-row.ts';
import { inScope, type ProjectScope, projectDeleted, projectNotFound } from './scope.ts';

export interface ProjectChanges {
  name?: string | undefined;
  /** Null takes it away. */
  externalId?: string | null | undefined;
  status?: 'active' | 'paused' | undefined;
  /** Merged into what is set; null removes a setting. */
  settings?: Record<string, unknown> | undefined;
}

export interface ProjectsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  config: ProjectsConfig;
  /** Epoch milliseconds. */
  now: () => number;
}

export type Projects = ReturnType<typeof createProjects>;

/**
 * Who has paused the project once its status is this. What the operator has paused stays so until the
 * operator resumes it.
 * @throws ApiError forbidden
 */
const pauser = (
  { number, paused_by: pausedBy }: ProjectRow,
  status: ProjectChanges['status'],
  { anyOwner: isOperator }: ProjectScope,
): string | null => {
  switch (status) {
    case undefined:
      return pausedBy;
    case 'active':
      if (pausedBy === 'operator' && !isOperator)
        throw new ApiError(
          'forbidden',
          'The operator has paused this project; only the operator can resume it.',
        );
      return null;
    case 'paused':
      if (number === platformProject.number)
        throw new ApiError('forbidden', 'The built-in project can not be paused.');
      return isOperator ? 'operator' : (pausedBy ?? 'owner');
  }
};

export const createProjects = ({ database, outbox, config, now }: ProjectsDeps) => {
  const queries = createQueries<Tables>(database);
  const present = createPresentProject(config);

  const publishChange = (row: Pick<ProjectRow, 'id' | 'number'>) =>
    outbox.append('project.changed', { projectId: row.id, projectNumber: row.number });

  /** Why no row is in scope: the project is deleted, or this caller sees none. */
  const explainMissing = async (scope: ProjectScope): Promise<ApiError> => {
    const row = await queries
      .selectFrom('projects')
      .select('number')
      .where(inScope(scope))
      .executeTakeFirst();
    return row ? projectDeleted() : projectNotFound();
  };

  /** Of a project that gets this external id, or comes back with its own. @throws ApiError forbidden, conflict */
  const claimFor = async (scope: ProjectScope, given?: string): Promise<void> => {
    const row = await queries
      .selectFrom('projects')
      .select(['number', 'owner_id', 'external_id'])
      .where(inScope(scope))
      .executeTakeFirst();
    const externalId = given ?? row?.external_id ?? null;
    if (!row || externalId === null) return;
    const { number, owner_id: ownerId } = row;
    if (ownerId === null) throw new ApiError('forbidden', 'A project of nobody has no externalId.');
    await claimExternalId(database, { ownerId, externalId, number });
  };

  return {
    present,
    claimFor,
    explainMissing,
    publishChange,

    /** Belongs into a transaction. */
    async publishChangeOf(projectNumber: number): Promise<void> {
      const row = await queries
        .selectFrom('projects')
        .select(['id', 'number'])
        .where('number', '=', projectNumber)
        .executeTakeFirst();
      if (row) await publishChange(row);
    },

    /** Until the surrounding transaction ends. @throws ApiError project_not_found, project_deleted */
    async lock(scope: ProjectScope): Promise<{ id: string }> {
      const select = () =>
        queries
          .selectFrom('projects')
          .select('id')
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst();
      const isMember = scope.role !== undefined && scope.role !== 'owner';
      const found = await select();
      // Once more: who was removed while it waited for the lock is a member no more.
      const row = found && isMember ? await select() : found;
      if (!row) throw await explainMissing(scope);
      return row;
    },

    /** @throws ApiError project_not_found, project_deleted */
    async get(scope: ProjectScope): Promise<Project> {
      const row = await queries
        .selectFrom('projects')
        .select(projectColumns)
        .where(inScope(scope))
        .executeTakeFirst();
      if (!row) throw projectNotFound();
      if (row.deleted_at) throw projectDeleted();
      return present(row, scope.role);
    },

    /** @throws ApiError project_not_found, project_deleted, forbidden, conflict */
    update: (
      scope: ProjectScope,
      { name, externalId, status, settings = {} }: ProjectChanges,
    ): Promise<Project> =>
      database.transaction(async () => {
        if (externalId != null) await claimFor(scope, externalId);
        const before = await queries
          .selectFrom('projects')
          .select(projectColumns)
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!before) throw await explainMissing(scope);
        const pausedBy = pauser(before, status, scope);
        const row = await queries
          .updateTable('projects')
          .set({
            ...(name !== undefined && { name }),
            ...(externalId !== undefined && { external_id: externalId }),
            ...(status !== undefined && { status }),
            paused_by: pausedBy,
            settings: sql`jsonb_strip_nulls(settings || ${JSON.stringify(settings)}::jsonb)`,
            updated_at: new Date(now()),
          })
          .where(inScope(scope))
          .returning(projectColumns)
          .executeTakeFirst();
        if (!row) throw projectNotFound();
        await publishChange(row);
        return present(row, scope.role);
      }),
  };
};
