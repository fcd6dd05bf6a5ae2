import { ApiError, type ProjectSettings, platformProject } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type Page, type PageQuery, pageOf, positionOf } from '@backlot/http';
import type { ProjectsConfig } from './config.ts';
import { randomProjectId } from './project-id.ts';
import {
  inScope,
  type ProjectScope,
  projectDeleted,
  projectNotFound,
  scopeValues,
} from './scope.ts';

export interface ProjectRow {
  number: number;
  id: string;
  name: string;
  owner_id: string | null;
  status: 'active' | 'paused';
  settings: ProjectSettings;
  created_at: Date;
  deleted_at: Date | null;
}

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

export const projectColumns =
  'number, id, name, owner_id, status, settings, created_at, deleted_at';

export interface ProjectsDeps {
  database: Database;
  outbox: Outbox;
  config: ProjectsConfig;
  /** Epoch milliseconds. */
  now: () => number;
  newId?: () => string;
}

export type Projects = ReturnType<typeof createProjects>;

const idTries = 5;

export const createProjects = ({
  database,
  outbox,
  config,
  now,
  newId = randomProjectId,
}: ProjectsDeps) => {
  const present = (row: ProjectRow): Project => ({
    id: row.id,
    name: row.name,
    ownerId: row.owner_id,
    status: row.deleted_at ? 'deleted' : row.status,
    baseUrl: `${config.publicUrl}/api/runtime/${row.id}`,
    settings: row.settings,
    createdAt: row.created_at.toISOString(),
  });

  const changed = (row: ProjectRow) =>
    outbox.append('project.changed', { projectId: row.id, projectNumber: row.number });

  /** Undefined where the id is taken. */
  const insert = async (
    id: string,
    { ownerId, name, settings = {} }: NewProject,
  ): Promise<ProjectRow | undefined> => {
    const [row] = await database.query<ProjectRow>(
      `INSERT INTO projects (id, name, owner_id, settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (id) DO NOTHING RETURNING ${projectColumns}`,
      [id, name, ownerId, JSON.stringify(settings), new Date(now())],
    );
    if (row) await changed(row);
    return row;
  };

  /** Creations of one owner go one after the other, so that the bound holds under parallel calls. */
  const checkBound = async (ownerId: string) => {
    await database.query(
      "SELECT pg_advisory_xact_lock(hashtextextended('projects of ' || $1, 0))",
      [ownerId],
    );
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*) FROM projects WHERE owner_id = $1',
      [ownerId],
    );
    if ((row?.count ?? 0) < config.maxProjectsPerOwner) return;
    throw new ApiError(
      'project_limit',
      `An owner may have at most ${config.maxProjectsPerOwner} projects.`,
      {
        hint: 'Deleted projects count until they can no longer be restored.',
      },
    );
  };

  /** Why no row is in scope: the project is deleted, or this caller sees none. */
  const missing = async (scope: ProjectScope): Promise<ApiError> => {
    const rows = await database.query(
      `SELECT 1 FROM projects WHERE ${inScope}`,
      scopeValues(scope),
    );
    return rows.length > 0 ? projectDeleted() : projectNotFound();
  };

  return {
    present,
    missing,
    changed,
    insert,

    /** @throws ApiError project_limit */
    create: (project: NewProject): Promise<Project> =>
      database.transaction(async () => {
        await checkBound(project.ownerId);
        for (let tries = 0; tries < idTries; tries++) {
          const row = await insert(newId(), project);
          if (row) return present(row);
        }
        throw new Error(`No free project id in ${idTries} tries.`);
      }),

    /** Deleted projects are listed: they can be restored. @throws ApiError invalid_cursor */
    async list(
      ownerId: string | null,
      anyOwner: boolean,
      query: PageQuery,
    ): Promise<Page<Project>> {
      const after = positionOf('projects', query.cursor);
      const rows = await database.query<ProjectRow>(
        `SELECT ${projectColumns} FROM projects
          WHERE (owner_id = $1 OR $2) AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4))
          ORDER BY created_at DESC, id DESC LIMIT $5`,
        [ownerId, anyOwner, after?.createdAt, after?.id, query.limit + 1],
      );
      return pageOf('projects', query, rows, present);
    },

    /** @throws ApiError project_not_found, project_deleted */
    async get(scope: ProjectScope): Promise<Project> {
      const [row] = await database.query<ProjectRow>(
        `SELECT ${projectColumns} FROM projects WHERE ${inScope}`,
        scopeValues(scope),
      );
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
        const [row] = await database.query<ProjectRow>(
          `UPDATE projects SET name = coalesce($4, name), status = coalesce($5, status),
                  settings = jsonb_strip_nulls(settings || $6::jsonb), updated_at = $7
            WHERE ${inScope} AND deleted_at IS NULL RETURNING ${projectColumns}`,
          [...scopeValues(scope), name, status, JSON.stringify(settings), new Date(now())],
        );
        if (!row) throw await missing(scope);
        if (row.number === platformProject.number && row.status === 'paused') {
          throw new ApiError('forbidden', 'The built-in project can not be paused.');
        }
        await changed(row);
        return present(row);
      }),
  };
};
