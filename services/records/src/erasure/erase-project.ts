import type { Database } from '@backlot/database';
import { eraseLog } from '../change-log/erase-log.ts';
import { collectionTables } from '../collections/table/removal.ts';
import { sideTables } from '../record/change/side-effects.ts';
import { lockTotals } from '../record/quota/totals.ts';

const eraseBatchSize = 2000;

const eraseRows = async (
  database: Database,
  [table, key]: readonly [table: string, key: string],
  projectNumber: number,
): Promise<void> => {
  for (;;) {
    const erased = await database.query(
      `DELETE FROM ${table} WHERE project_id = $1 AND (coll_id, ${key}) IN (
         SELECT coll_id, ${key} FROM ${table} WHERE project_id = $1 ORDER BY coll_id, ${key} LIMIT $2) RETURNING 1`,
      [projectNumber, eraseBatchSize],
    );
    if (erased.length < eraseBatchSize) return;
  }
};

/** Deletes all records and collections of a project, in short statements; may be repeated. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  for (const [table, key] of [['records', '(id)'] as const, ...sideTables])
    await eraseRows(database, [table, key.slice(1, -1)], projectNumber);
  await eraseLog(database, projectNumber);
  await database.transaction(async () => {
    await lockTotals(database);
    for (const table of [
      ...collectionTables,
      'collections',
      'user_erasures',
      'restore_points',
      'undo_records',
      'undo_jobs',
      'deletion_notices',
      'totals',
      'project_owners',
      'told_projects',
      'ended_collections',
      'traffic',
      'visits',
    ]) {
      await database.query(`DELETE FROM ${table} WHERE project_id = $1`, [projectNumber]);
    }
  });
};
