import { ApiError, type SchemaReport } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { CollectionGone, type Collections } from '../collections/collections.ts';
import { inCollection, isoTimeSql } from '../sql.ts';

export interface SchemaReports {
  /**
   * How many records do not fit the schema of a collection, as far as it is known. Begins to look at them where nobody
   * has, and once more where the last look is over and `isRenewed`.
   * @throws ApiError not_found
   */
  read(
    project: Identity['project'],
    name: string,
    options: { isRenewed: boolean },
  ): Promise<SchemaReport>;
}

export interface SchemaReportsDeps {
  database: Database;
  collections: Pick<Collections, 'find'>;
  /** Epoch milliseconds. */
  now: () => number;
}

const beginSql = `INSERT INTO schema_reports (project_id, coll_id, state, started_at) VALUES ($1, $2, 'running', $3)
  ON CONFLICT (project_id, coll_id) DO UPDATE
    SET state = 'running', position = NULL, checked = 0, unfit = 0, problems = '[]', others = 0, started_at = $3, ended_at = NULL
    WHERE schema_reports.state = 'done' AND $4`;

const readSql = `SELECT state, checked, unfit, problems, others, ${isoTimeSql('started_at')} AS "startedAt", ${isoTimeSql('ended_at')} AS "endedAt",
    (SELECT greatest(0, row_count) FROM collections WHERE ${inCollection}) AS count
  FROM schema_reports WHERE ${inCollection}`;

export const createSchemaReports = ({
  database,
  collections,
  now,
}: SchemaReportsDeps): SchemaReports => ({
  async read(project, name, { isRenewed }) {
    const collection = await collections.find(project.number, name);
    if (!collection) throw new CollectionGone();
    if (!collection.schema)
      throw new ApiError('not_found', 'This collection has no schema.', {
        hint: `PUT /api/platform/projects/${project.id}/collections/${name} {"schema": …} sets one; POST …/collections/${name}/schema-from-records proposes one.`,
      });
    const key = [project.number, collection.id];
    await database.query(beginSql, [...key, new Date(now()), isRenewed]);
    const [report] = await database.query<SchemaReport>(readSql, key);
    if (!report) throw new CollectionGone();
    return report;
  },
});
