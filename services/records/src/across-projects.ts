import type { Database } from '@backlot/database';

/** How the few statements begin that read rows of several projects; all others name one, so that one Citus node answers. */
export const acrossProjects = '/* across projects */';

/** Where a cluster is told to refuse statements that several nodes answer, it takes those that follow. */
const allowSeveralNodes = `SELECT set_config('citus.multi_task_query_log_level', 'off', true)`;

/** One statement that reads the rows of several projects, from whichever nodes of a cluster they are on. */
export const readAcrossProjects = <Row>(
  database: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> =>
  database.transaction(async () => {
    await database.query(allowSeveralNodes);
    return await database.query<Row>(`${acrossProjects} ${text}`, values);
  });
