import { createQueries, type Database, deleteExpired } from '@backlot/database';
import type { TellApp } from '@backlot/service';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { DB as Tables } from '../tables.ts';
import type { Quota } from './quota.ts';

/** Files that are deleted in one transaction. */
const batchSize = 200;
const dayMs = 24 * 3600 * 1000;

export interface RemovalsDeps {
  database: Database;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
  tellApp: TellApp;
  now: () => number;
}

export type Removals = ReturnType<typeof createRemovals>;

interface Selection {
  id?: string;
  ownerId?: string;
}

/** Deletes files, with their images and their bytes. */
export const createRemovals = ({ database, unclaimedBlobs, quota, tellApp, now }: RemovalsDeps) => {
  const queries = createQueries<Tables>(database);

  const lockBatch = (projectNumber: number, { id, ownerId }: Selection) => {
    let files = queries
      .selectFrom('files')
      .select(['id', 'blob_key', 'size_bytes'])
      .where('project_number', '=', projectNumber)
      .limit(batchSize)
      .forUpdate();
    if (id !== undefined) files = files.where('id', '=', id);
    if (ownerId !== undefined) files = files.where('owner_id', '=', ownerId);
    return files.execute();
  };

  const tellDeleted = (projectNumber: number, id: string) =>
    tellApp({ projectNumber, type: 'file.deleted', orderKey: `file/${id}`, data: { fileId: id } });

  /** At most one batch; answers the keys of their blobs, which are still to be removed. */
  const removeBatch = (projectNumber: number, selection: Selection, isTold = true) =>
    database.transaction(async () => {
      await quota.lock(projectNumber);
      const files = await lockBatch(projectNumber, selection);
      if (files.length === 0) return [];
      const ids = files.map((file) => file.id);
      const images = await queries
        .deleteFrom('images')
        .where('project_number', '=', projectNumber)
        .where('file_id', 'in', ids)
        .returning(['blob_key', 'size_bytes'])
        .execute();
      for (const table of ['files', 'resumable_uploads'] as const)
        await queries
          .deleteFrom(table)
          .where('project_number', '=', projectNumber)
          .where('id', 'in', ids)
          .execute();
      await quota.removeFiles(
        projectNumber,
        files.map((file) => file.size_bytes),
      );
      await quota.removeImages(
        projectNumber,
        images.map((image) => image.size_bytes),
      );
      const keys = [...files, ...images].map((row) => row.blob_key);
      await unclaimedBlobs.scheduleRemoval(projectNumber, keys);
      if (isTold) await Promise.all(ids.map((id) => tellDeleted(projectNumber, id)));
      return keys;
    });

  const removeAll = async (projectNumber: number, selection: Selection, isTold = true) => {
    for (;;) {
      const keys = await removeBatch(projectNumber, selection, isTold);
      if (keys.length === 0) return;
      await unclaimedBlobs.removeUnclaimed(projectNumber, keys);
    }
  };

  return {
    /** False where it was deleted already. */
    async remove(projectNumber: number, id: string): Promise<boolean> {
      const keys = await removeBatch(projectNumber, { id });
      await unclaimedBlobs.removeUnclaimed(projectNumber, keys);
      return keys.length > 0;
    },

    async eraseUser(projectNumber: number, userId: string): Promise<void> {
      await database.transaction(async () => {
        await quota.lock(projectNumber);
        await queries
          .insertInto('erased_users')
          .values({ project_number: projectNumber, user_id: userId, erased_at: new Date(now()) })
          .onConflict((conflict) =>
            conflict.columns(['project_number', 'user_id']).doUpdateSet({ heir_id: null }),
          )
          .execute();
      });
      await removeAll(projectNumber, { ownerId: userId });
    },

    async eraseProject(projectNumber: number): Promise<void> {
      await removeAll(projectNumber, {}, false);
      await quota.removeProject(projectNumber);
    },

    /** Forgets accounts that were erased so long ago that no upload of theirs can still run. */
    sweep: () =>
      deleteExpired(database, [
        {
          table: 'erased_users',
          condition: 'erased_at < $1',
          values: [new Date(now() - dayMs)],
        },
      ]),
  };
};
