import { ApiError, type EventPayloads, platformProject } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { ProjectsConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';
import { suspensionsOfNew } from './owner-lock.ts';
import { type Project, projectColumns } from './project-row.ts';
import type { Projects } from './projects.ts';
import { inScope, type ProjectScope, projectNotFound } from './scope.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Calls that were under way in a preview have ended by then; it is not restored. */
const previewGraceMs = 10 * 60_000;
/** Rows in one transaction of a sweep. */
const batchSize = 100;

export interface DeletionDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  projects: Projects;
  config: ProjectsConfig;
  now: () => number;
}

export type Deletion = ReturnType<typeof createDeletion>;

/** A deleted project keeps its row, its status and its keys until its time to be restored is over. */
export const createDeletion = ({ database, outbox, projects, config, now }: DeletionDeps) => {
  const queries = createQueries<Tables>(database);

  /** What was deleted at this time or before is past restoring. */
  const restorableSince = () => new Date(now() - config.restoreDays * dayMs);

  const eraseBatch = () =>
    database.transaction(async () => {
      const rows = await queries
        .deleteFrom('projects')
        .where('number', 'in', ({ selectFrom }) =>
          selectFrom('projects')
            .select('number')
            .where(({ and, eb, or }) =>
              or([
                eb('deleted_at', '<=', restorableSince()),
                and([
                  eb('preview_of', 'is not', null),
                  eb('deleted_at', '<=', new Date(now() - previewGraceMs)),
                ]),
              ]),
            )
            .orderBy('deleted_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked(),
        )
        .returning(['number', 'id'])
        .execute();
      for (const { number, id } of rows) {
        await outbox.append('project.erased', { projectId: id, projectNumber: number });
      }
      return rows.length;
    });

  const removeBatchOwnedBy = (ownerId: string) =>
    database.transaction(async () => {
      const at = new Date(now());
      const rows = await queries
        .updateTable('projects')
        .set({ deleted_at: at, deleted_by: 'owner', updated_at: at })
        .where('number', 'in', ({ selectFrom }) =>
          selectFrom('projects')
            .select('number')
            .where('owner_id', '=', ownerId)
            .where('deleted_at', 'is', null)
            .orderBy('number')
            .limit(batchSize)
            .forUpdate(),
        )
        .returning(['number', 'id'])
        .execute();
      for (const row of rows) await projects.publishChange(row);
      return rows.length;
    });

  const removePreviewsOf = async (id: string, at: Date) => {
    const rows = await queries
      .updateTable('projects')
      .set({ deleted_at: at, deleted_by: 'owner', updated_at: at })
      .where('preview_of', '=', id)
      .where('deleted_at', 'is', null)
      .returning(['number', 'id'])
      .execute();
    for (const row of rows) await projects.publishChange(row);
  };

  return {
    /** With its previews. @throws ApiError project_not_found, project_deleted, forbidden */
    remove: (scope: ProjectScope): Promise<void> =>
      database.transaction(async () => {
        const at = new Date(now());
        const row = await queries
          .updateTable('projects')
          .set({
            deleted_at: at,
            deleted_by: scope.anyOwner ? 'operator' : 'owner',
            updated_at: at,
          })
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .returning(['number', 'id'])
          .executeTakeFirst();
        if (!row) throw await projects.explainMissing(scope);
        if (row.number === platformProject.number) {
          throw new ApiError('forbidden', 'The built-in project can not be deleted.');
        }
        await projects.publishChange(row);
        await removePreviewsOf(row.id, at);
      }),

    /**
     * Leaves a project that is not deleted as it is. What the operator has deleted the operator restores.
     * @throws ApiError project_not_found, forbidden, conflict
     */
    restore: (scope: ProjectScope): Promise<Project> =>
      database.transaction(async () => {
        await projects.claimFor(scope);
        const row = await queries
          .selectFrom('projects')
          .select([...projectColumns, 'deleted_by'])
          .where(inScope(scope))
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!row || (row.deleted_at && row.deleted_at <= restorableSince()))
          throw projectNotFound();
        if (row.deleted_at === null) return projects.present(row, scope.role);
        if (row.owner_id !== null && !scope.anyOwner)
          await suspensionsOfNew(database, row.owner_id, undefined);
        if (row.preview_of !== null)
          throw new ApiError('forbidden', 'A preview is not restored: make another one.');
        if (row.deleted_by === 'operator' && !scope.anyOwner)
          throw new ApiError(
            'forbidden',
            'The operator has deleted this project; only the operator can restore it.',
          );
        await queries
          .updateTable('projects')
          .set({ deleted_at: null, deleted_by: null, updated_at: new Date(now()) })
          .where(inScope(scope))
          .execute();
        await projects.publishChange(row);
        return projects.present({ ...row, deleted_at: null }, scope.role);
      }),

    /** Deletes the projects of an erased owner; again is harmless. */
    async removeAllOwnedBy(ownerId: string): Promise<void> {
      while ((await removeBatchOwnedBy(ownerId)) === batchSize);
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
