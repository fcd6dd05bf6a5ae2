import type { Database } from '@backlot/database';
import type { LooseBlobs } from './loose-blobs.ts';

/** Files that go away in one transaction. */
const batchSize = 200;
const dayMs = 24 * 3600 * 1000;

/** The row is locked until the end of the transaction: what changes a project's files goes one by one. */
export const lockProject = (database: Database, projectNumber: number): Promise<unknown> =>
  database.query(
    `INSERT INTO totals (project_number) VALUES ($1)
     ON CONFLICT (project_number) DO UPDATE SET files = totals.files`,
    [projectNumber],
  );

export interface RemovalsDeps {
  database: Database;
  looseBlobs: LooseBlobs;
  now: () => number;
}

export type Removals = ReturnType<typeof createRemovals>;

/** How files go away, with their images and their bytes. */
export const createRemovals = ({ database, looseBlobs, now }: RemovalsDeps) => {
  /** Answers the keys of blobs that nobody has any more; at most one batch. */
  const removeSome = (projectNumber: number, which: string, values: readonly unknown[]) =>
    database.transaction(async () => {
      await lockProject(database, projectNumber);
      const rows = await database.query<{ id: string; blob_key: string; size_bytes: number }>(
        `SELECT id, blob_key, size_bytes FROM files
          WHERE project_number = $1 AND ${which} LIMIT ${batchSize} FOR UPDATE`,
        [projectNumber, ...values],
      );
      const ids = rows.map((row) => row.id);
      const images = await database.query<{ blob_key: string }>(
        'DELETE FROM images WHERE project_number = $1 AND file_id = ANY($2) RETURNING blob_key',
        [projectNumber, ids],
      );
      for (const table of ['files', 'resumable_uploads'])
        await database.query(`DELETE FROM ${table} WHERE project_number = $1 AND id = ANY($2)`, [
          projectNumber,
          ids,
        ]);
      const bytes = rows.reduce((sum, row) => sum + row.size_bytes, 0);
      await database.query(
        'UPDATE totals SET files = files - $2, bytes = bytes - $3 WHERE project_number = $1',
        [projectNumber, rows.length, bytes],
      );
      const keys = [...rows, ...images].map((row) => row.blob_key);
      await looseBlobs.letGo(projectNumber, keys);
      return keys;
    });

  const removeAll = async (projectNumber: number, which: string, values: readonly unknown[]) => {
    for (;;) {
      const keys = await removeSome(projectNumber, which, values);
      if (keys.length === 0) return;
      await looseBlobs.settle(projectNumber, keys);
    }
  };

  return {
    /** False where it was gone already. */
    async remove(projectNumber: number, id: string): Promise<boolean> {
      const keys = await removeSome(projectNumber, 'id = $2', [id]);
      await looseBlobs.settle(projectNumber, keys);
      return keys.length > 0;
    },

    async eraseUser(projectNumber: number, userId: string): Promise<void> {
      await database.transaction(async () => {
        await lockProject(database, projectNumber);
        await database.query(
          `INSERT INTO erased_users (project_number, user_id, erased_at) VALUES ($1, $2, $3)
           ON CONFLICT DO NOTHING`,
          [projectNumber, userId, new Date(now())],
        );
      });
      await removeAll(projectNumber, 'owner_id = $2', [userId]);
    },

    async eraseProject(projectNumber: number): Promise<void> {
      await removeAll(projectNumber, 'true', []);
      await database.query('DELETE FROM totals WHERE project_number = $1', [projectNumber]);
    },

    /** Forgets accounts that were erased so long ago that no upload of theirs can be under way. */
    async sweep(): Promise<void> {
      await database.query('DELETE FROM erased_users WHERE erased_at < $1', [
        new Date(now() - dayMs),
      ]);
    },
  };
};
