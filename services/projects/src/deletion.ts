import { ApiError, platformProject } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { ProjectsConfig } from './config.ts';
import { type Project, type ProjectRow, type Projects, projectColumns } from './projects.ts';
import { inScope, type ProjectScope, projectNotFound, scopeValues } from './scope.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Rows in one transaction of a sweep. */
const batchSize = 100;

export interface DeletionDeps {
  database: Database;
  outbox: Outbox;
  projects: Projects;
  config: ProjectsConfig;
  now: () => number;
}

export type Deletion = ReturnType<typeof createDeletion>;

/** A deleted project keeps its row, its status and its keys until its time to be restored is over. */
export const createDeletion = ({ database, outbox, projects, config, now }: DeletionDeps) => {
  /** What was deleted at this time or before is past restoring. */
  const restorableSince = () => new Date(now() - config.restoreDays * dayMs);

  const eraseBatch = () =>
    database.transaction(async () => {
      const rows = await database.query<{ number: number; id: string }>(
        `DELETE FROM projects WHERE number IN (
           SELECT number FROM projects WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING number, id`,
        [restorableSince(), batchSize],
      );
      for (const { number, id } of rows) {
        await outbox.append('project.erased', { projectId: id, projectNumber: number });
      }
      return rows.length;
    });

  const removeBatchOf = (ownerId: string) =>
    database.transaction(async () => {
      const rows = await database.query<ProjectRow>(
        `UPDATE projects SET deleted_at = $2, updated_at = $2 WHERE number IN (
           SELECT number FROM projects WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY number LIMIT $3 FOR UPDATE)
         RETURNING ${projectColumns}`,
        [ownerId, new Date(now()), batchSize],
      );
      for (const row of rows) await projects.changed(row);
      return rows.length;
    });

  return {
    /** @throws ApiError project_not_found, project_deleted, forbidden */
    remove: (scope: ProjectScope): Promise<void> =>
      database.transaction(async () => {
        const [row] = await database.query<ProjectRow>(
          `UPDATE projects SET deleted_at = $4, updated_at = $4
            WHERE ${inScope} AND deleted_at IS NULL RETURNING ${projectColumns}`,
          [...scopeValues(scope), new Date(now())],
        );
        if (!row) throw await projects.missing(scope);
        if (row.number === platformProject.number) {
          throw new ApiError('forbidden', 'The built-in project can not be deleted.');
        }
        await projects.changed(row);
      }),

    /** Leaves a project that is not deleted as it is. @throws ApiError project_not_found */
    restore: (scope: ProjectScope): Promise<Project> =>
      database.transaction(async () => {
        const [row] = await database.query<ProjectRow>(
          `SELECT ${projectColumns} FROM projects WHERE ${inScope} FOR NO KEY UPDATE`,
          scopeValues(scope),
        );
        if (!row || (row.deleted_at && row.deleted_at <= restorableSince()))
          throw projectNotFound();
        if (row.deleted_at === null) return projects.present(row);
        await database.query(
          `UPDATE projects SET deleted_at = NULL, updated_at = $4 WHERE ${inScope}`,
          [...scopeValues(scope), new Date(now())],
        );
        await projects.changed(row);
        return projects.present({ ...row, deleted_at: null });
      }),

    /** Deletes the projects of an erased owner; again is harmless. */
    async removeAllOf(ownerId: string): Promise<void> {
      while ((await removeBatchOf(ownerId)) === batchSize);
    },

    /** Erases for good what is past restoring; returns how many projects. */
    async sweep(): Promise<number> {
      let erased = 0;
      let batch: number;
      do {
        batch = await eraseBatch();
        erased += batch;
      } while (batch === batchSize);
      return erased;
    },
  };
};
