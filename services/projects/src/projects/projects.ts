import {
  ApiError,
  type EventPayloads,
  type ProjectSettings,
  platformProject,
} from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { type Selectable, sql } from 'kysely';
import type { ProjectsConfig } from '../config.ts';
import type { Owners } from '../owners.ts';
import type { Project as ProjectTable, DB as Tables } from '../tables.ts';
import { isProjectId, randomProjectId } from './project-id.ts';
import { inScope, type ProjectScope, projectDeleted, projectNotFound } from './scope.ts';

export interface Project {
  id: string;
  name: string;
  ownerId: string | null;
  status: 'active' | 'paused' | 'deleted';
  baseUrl: string;
  settings: ProjectSettings;
  createdAt: string;
}

export interface ProjectChanges {
  name?: string | undefined;
  status?: 'active' | 'paused' | undefined;
  /** Merged into what is set; null removes a setting. */
  settings?: Record<string, unknown> | undefined;
}

export interface NewProject {
  ownerId: string;
  name: string;
  settings?: ProjectSettings | undefined;
}

export const projectColumns = [
  ...(['number', 'id', 'name', 'owner_id', 'status', 'paused_by'] as const),
  ...(['settings', 'created_at', 'deleted_at'] as const),
] as const;
export type ProjectRow = Pick<Selectable<ProjectTable>, (typeof projectColumns)[number]>;

export interface ProjectsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  config: ProjectsConfig;
  owners: Pick<Owners, 'isVerified'>;
  /** Epoch milliseconds. */
  now: () => number;
  newId?: () => string;
}

export type Projects = ReturnType<typeof createProjects>;

const idTries = 5;
const maxUnverifiedProjects = 3;

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

export const createProjects = ({
  database,
  outbox,
  config,
  owners,
  now,
  newId = randomProjectId,
}: ProjectsDeps) => {
  const queries = createQueries<Tables>(database);

  const present = (row: ProjectRow): Project => ({
    id: row.id,
    name: row.name,
    ownerId: row.owner_id,
    status: row.deleted_at ? 'deleted' : (row.status as 'active' | 'paused'),
    baseUrl: `${config.publicUrl}/api/runtime/${row.id}`,
    settings: row.settings as ProjectSettings,
    createdAt: row.created_at.toISOString(),
  });

  const publishChange = (row: Pick<ProjectRow, 'id' | 'number'>) =>
    outbox.append('project.changed', { projectId: row.id, projectNumber: row.number });

  /** Undefined where the id is taken. */
  const insert = async (
    id: string,
    { ownerId, name, settings = {} }: NewProject,
  ): Promise<ProjectRow | undefined> => {
    const at = new Date(now());
    const row = await queries
      .insertInto('projects')
      .values({
        id,
        name,
        owner_id: ownerId,
        settings: JSON.stringify(settings),
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(projectColumns)
      .executeTakeFirst();
    if (row) await publishChange(row);
    return row;
  };

  /** Creations of one owner go one after the other, so that the bound holds under parallel calls. */
  const checkBound = async (ownerId: string, isVerified: boolean) => {
    const max = isVerified
      ? config.maxProjectsPerOwner
      : Math.min(maxUnverifiedProjects, config.maxProjectsPerOwner);
    await database.query(
      "SELECT pg_advisory_xact_lock(hashtextextended('projects of ' || $1, 0))",
      [ownerId],
    );
    const { count } = await queries
      .selectFrom('projects')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow();
    if (count < max) return;
    throw new ApiError(
      'project_limit',
      isVerified
        ? `An owner may have at most ${max} projects.`
        : `An owner may have at most ${max} projects until their e-mail address is verified.`,
      {
        hint: isVerified
          ? 'Deleted projects count until they can no longer be restored.'
          : 'Follow the link in the mail that came when you signed up.',
      },
    );
  };

  /** Why no row is in scope: the project is deleted, or this caller sees none. */
  const explainMissing = async (scope: ProjectScope): Promise<ApiError> => {
    const row = await queries
      .selectFrom('projects')
      .select('number')
      .where(inScope(scope))
      .executeTakeFirst();
    return row ? projectDeleted() : projectNotFound();
  };

  return {
    present,
    explainMissing,
    publishChange,
    insert,

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
      const row = await queries
        .selectFrom('projects')
        .select('id')
        .where(inScope(scope))
        .where('deleted_at', 'is', null)
        .forNoKeyUpdate()
        .executeTakeFirst();
      if (!row) throw await explainMissing(scope);
      return row;
    },

    /**
     * Looks the owner up, outside of any transaction; what it answers creates the project.
     * @throws ApiError project_limit, unavailable
     */
    async prepare(project: NewProject): Promise<() => Promise<Project>> {
      const isVerified = await owners.isVerified(project.ownerId);
      const create = async () => {
        await checkBound(project.ownerId, isVerified);
        for (let tries = 0; tries < idTries; tries++) {
          const row = await insert(newId(), project);
          if (row) return present(row);
        }
        throw new Error(`No free project id in ${idTries} tries.`);
      };
      return () => database.transaction(create);
    },

    /** Deleted projects are listed: they can be restored. @throws ApiError invalid_cursor */
    async list(
      ownerId: string | null,
      anyOwner: boolean,
      query: PageQuery,
    ): Promise<Page<Project>> {
      const all = queries.selectFrom('projects').select(projectColumns);
      const owned = anyOwner ? all : all.where(({ eb, val }) => eb('owner_id', '=', val(ownerId)));
      const read = (after: Position | undefined, count: number) => {
        const page = after
          ? owned.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
            )
          : owned;
        return page.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(count).execute();
      };
      return readPage('projects', query, read, present, isProjectId);
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
      return present(row);
    },

    /** @throws ApiError project_not_found, project_deleted, forbidden */
    update: (
      scope: ProjectScope,
      { name, status, settings = {} }: ProjectChanges,
    ): Promise<Project> =>
      database.transaction(async () => {
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
        return present(row);
      }),
  };
};
