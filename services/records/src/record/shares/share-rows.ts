import { ApiError, shareRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { countGrowthSql, shareBytesSql } from '../../collections/stored/side-sql.ts';
import { logSharesSql } from '../change/log-sql.ts';
import type { Quota } from '../quota/quota.ts';
import type { RecordTarget } from '../refusals.ts';

/** Shares of the record whose key the first three parameters are. */
export const ofRecord = 'project_id = $1 AND coll_id = $2 AND record_id = $3';

export const recordValues = ({ collection, id }: RecordTarget) => [
  collection.projectNumber,
  collection.id,
  id,
];

const returnedBytes = `RETURNING coll_id, record_id, user_id, -${shareBytesSql} AS growth`;

/** Writes rows of `shares` together with what the quota counts for them, and what the log says. */
export const createShareRows = (database: Database, quota: Pick<Quota, 'refuse'>) => ({
  /**
   * Of a record that is locked.
   * @param insert writes nothing where the record has as many as it may
   * @param isThere whether a row is the one that it replaces
   * @param roomBytes what is left of the quota, where it is not enough for another one
   * @throws ApiError quota_reached
   */
  async put(
    { project }: RecordTarget,
    [insert, values]: readonly [text: string, values: readonly unknown[]],
    isThere: string,
    roomBytes: number | undefined,
  ): Promise<void> {
    const [row] = await database.query<{ growth: number }>(
      // A cluster runs the parts one after the other, each with what those before it have written.
      `WITH before AS MATERIALIZED (SELECT count(*) AS rows FROM shares WHERE ${ofRecord} AND ${isThere}),
       put AS (${insert} RETURNING coll_id, record_id, user_id, email),
       logged AS (${logSharesSql('put', false)}),
       added AS (SELECT ${shareBytesSql} AS growth FROM put, before WHERE rows = 0),
       counted AS (${countGrowthSql('added')})
       SELECT (SELECT coalesce(sum(growth), 0) FROM added)::int8 AS growth FROM put`,
      values,
    );
    if (!row) {
      const most = `A record can be shared with at most ${shareRoutes.maxShares} users and addresses.`;
      throw new ApiError('quota_reached', most);
    }
    if (roomBytes !== undefined && row.growth > roomBytes) await quota.refuse(project);
  },

  /** Whether there was one. */
  async remove(target: RecordTarget, condition: string, who: string): Promise<boolean> {
    const ended = await database.query(
      `WITH ended AS (DELETE FROM shares WHERE ${ofRecord} AND ${condition} ${returnedBytes}),
       logged AS (${logSharesSql('ended', true)}),
       counted AS (${countGrowthSql('ended')})
       SELECT FROM ended`,
      [...recordValues(target), who],
    );
    return ended.length > 0;
  },
});

export type ShareRows = ReturnType<typeof createShareRows>;

/** Ends shares of the project `$1` in any of its collections. */
export const endSharesSql = (condition: string): string =>
  `WITH ended AS (DELETE FROM shares WHERE ${condition} RETURNING coll_id, record_id, user_id, -${shareBytesSql} AS growth),
   logged AS (${logSharesSql('ended', true)}),
   counted AS (
     INSERT INTO count_delta (project_id, coll_id, d, bytes)
     SELECT own.project_id, own.coll_id, 0, total.growth
     FROM collections own, (SELECT coll_id, sum(growth) AS growth FROM ended GROUP BY coll_id) total
     WHERE own.project_id = $1 AND own.coll_id = total.coll_id)
   SELECT FROM ended`;
