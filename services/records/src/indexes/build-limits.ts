import { type Database, workLeft } from '@backlot/database';
import { readAcrossProjects } from '../across-projects.ts';
import { countAllSql } from '../collections/stored/record-counts.ts';
import {
  type Builder,
  type BuilderDeps,
  createBuilder,
  type Generation,
  generationKey,
} from './building/build.ts';

/** Counts the records that users own from before, and removes what is counted no longer. */
export const createLimitsBuilder = ({ database }: BuilderDeps): Builder =>
  createBuilder<Generation>(database, {
    table: 'record_limits',
    columns: [],
    rows: { table: 'record_counts', key: 'key', bytes: '0' },
    batchRows: 2000,
    fillAll: (_collection, row) => database.query(countAllSql, generationKey(row)),
  });

const projectsAtOnce = 1000;
const isOver = 'ends_at < $1';

/** Forgets counts of users who own nothing, and of hours that are over. */
export const forgetCounts = async (database: Database, now: () => number) => {
  const at = new Date(now());
  const projects = await readAcrossProjects<{ project: number }>(
    database,
    `SELECT DISTINCT project_id AS project FROM record_counts WHERE ${isOver} LIMIT ${projectsAtOnce}`,
    [at],
  );
  for (const { project } of projects)
    await database.query(
      `DELETE FROM record_counts WHERE project_id = $2 AND ${isOver} AND (records = 0 OR since IS NOT NULL)`,
      [at, project],
    );
  return projects.length === projectsAtOnce ? workLeft : undefined;
};
