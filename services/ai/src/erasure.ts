import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from './tables.ts';

const batchSize = 2000;

/** Erases all that is kept of a project, in short statements; may be repeated. */
export const eraseProject = async (database: Database, projectNumber: number): Promise<void> => {
  const queries = createQueries<Tables>(database);
  for (const table of ['prompts', 'secrets'] as const)
    await queries.deleteFrom(table).where('project_number', '=', projectNumber).execute();
  for (;;) {
    const { numDeletedRows } = await queries
      .deleteFrom('visitor_days')
      .where('project_number', '=', projectNumber)
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('visitor', 'day'),
          'in',
          selectFrom('visitor_days')
            .select(['visitor', 'day'])
            .where('project_number', '=', projectNumber)
            .limit(batchSize)
            .$asTuple('visitor', 'day'),
        ),
      )
      .executeTakeFirst();
    if (numDeletedRows < batchSize) return;
  }
};
