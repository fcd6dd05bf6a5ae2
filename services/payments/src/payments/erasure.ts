import type { Payload } from '@backlot/contract';
import type { Database } from '@backlot/database';

const batchSize = 2000;

/** Deletes everything of the project, in short statements; may be repeated. */
export const eraseProject = async (
  database: Database,
  { projectNumber }: Payload<'project.erased'>,
): Promise<void> => {
  for (const table of ['secrets', 'closed_checkouts'])
    await database.query(`DELETE FROM ${table} WHERE project_number = $1`, [projectNumber]);
  for (const [table, key] of [
    ['payments', 'id'],
    ['test_sessions', 'id'],
    ['heard_events', 'event_id'],
  ]) {
    for (;;) {
      const erased = await database.query(
        `DELETE FROM ${table} WHERE project_number = $1 AND ${key} IN (
           SELECT ${key} FROM ${table} WHERE project_number = $1 LIMIT $2) RETURNING 1`,
        [projectNumber, batchSize],
      );
      if (erased.length < batchSize) break;
    }
  }
};

/** Payments stay, without their user. */
export const eraseUser = async (
  database: Database,
  { projectNumber, userId }: Payload<'user.erased'>,
): Promise<void> => {
  await database.query(
    'UPDATE payments SET user_id = NULL WHERE project_number = $1 AND user_id = $2',
    [projectNumber, userId],
  );
};
