import type { Database } from '@backlot/database';

const batchSize = 2000;

/** Erases all that is kept of a project, in short statements; may be repeated. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  await database.query('DELETE FROM prompts WHERE project_number = $1', [projectNumber]);
  await database.query('DELETE FROM secrets WHERE project_number = $1', [projectNumber]);
  for (;;) {
    const erased = await database.query(
      `DELETE FROM visitor_days WHERE project_number = $1 AND (visitor, day) IN (
         SELECT visitor, day FROM visitor_days WHERE project_number = $1 LIMIT $2) RETURNING 1`,
      [projectNumber, batchSize],
    );
    if (erased.length < batchSize) return;
  }
};
