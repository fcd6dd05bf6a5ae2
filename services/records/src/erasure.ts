import type { Database } from '@backlot/database';

const batchSize = 2000;

/** Erases all records and collections of a project, in short statements; may be repeated. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  for (;;) {
    const erased = await database.query(
      `DELETE FROM records WHERE project_id = $1 AND (coll_id, id) IN (
         SELECT coll_id, id FROM records WHERE project_id = $1 ORDER BY coll_id, id LIMIT $2) RETURNING 1`,
      [projectNumber, batchSize],
    );
    if (erased.length < batchSize) break;
  }
  await database.query('DELETE FROM count_delta WHERE project_id = $1', [projectNumber]);
  await database.query('DELETE FROM collections WHERE project_id = $1', [projectNumber]);
};
