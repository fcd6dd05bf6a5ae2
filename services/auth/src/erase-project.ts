import { events } from '@backlot/contract';
import type { Database } from '@backlot/database';

const batchSize = 500;

/** Erases all accounts of a project in short transactions; sessions and links go with their users. */
export const eraseProject = async (database: Database, payload: unknown): Promise<void> => {
  const { projectNumber } = events['project.erased'].parse(payload);
  await eraseInBatches(database, 'users', 'id', projectNumber);
  await eraseInBatches(database, 'attempts', 'counter', projectNumber);
  await eraseInBatches(database, 'one_time_tokens', 'token_hash', projectNumber);
};

const eraseInBatches = async (
  database: Database,
  table: 'users' | 'attempts' | 'one_time_tokens',
  key: 'id' | 'counter' | 'token_hash',
  project: number,
): Promise<void> => {
  for (;;) {
    const gone = await database.query(
      `DELETE FROM ${table} WHERE project_number = $1 AND ${key} IN (
         SELECT ${key} FROM ${table} WHERE project_number = $1 ORDER BY ${key} LIMIT $2) RETURNING 1`,
      [project, batchSize],
    );
    if (gone.length < batchSize) return;
  }
};
