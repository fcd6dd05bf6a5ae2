import type { Database } from '@backlot/database';
import { logSharesSql } from '../change/log-sql.ts';
import { endSharesSql } from './share-rows.ts';

const batchSize = 500;

/** Of the user `$2`; by the index, which begins with the collection. */
const isTheirs = `shares.project_id = $1 AND shares.user_id = $2 AND shares.email = ''
  AND shares.coll_id = ANY (ARRAY(SELECT coll_id FROM collections WHERE project_id = $1))`;
const isSame = `heirs.project_id = $1 AND heirs.user_id = $3 AND heirs.email = ''
  AND heirs.coll_id = shares.coll_id AND heirs.record_id = shares.record_id`;

const raiseSql = `UPDATE shares heirs SET may = 'change' FROM shares
  WHERE ${isTheirs} AND shares.may = 'change' AND ${isSame} AND heirs.may <> 'change'`;
const endDoubleSql = endSharesSql(
  `${isTheirs} AND EXISTS (SELECT FROM shares heirs WHERE ${isSame})`,
);
const some = `${isTheirs} AND (shares.coll_id, shares.record_id) IN (
  SELECT shares.coll_id, shares.record_id FROM shares WHERE ${isTheirs} LIMIT ${batchSize})`;
const giveSql = `WITH given AS (UPDATE shares SET user_id = $3 WHERE ${some}
    RETURNING new.coll_id, new.record_id, new.user_id),
  logged AS (${logSharesSql('given', false)})
  SELECT FROM given`;
const giversSql = `UPDATE shares SET shared_by = $3 WHERE project_id = $1 AND shared_by = $2`;

/** Gives what is shared with a user, and what they have shared, to another one, who keeps what allows more. May be repeated. */
export const mergeShares = async (
  database: Database,
  projectNumber: number,
  from: string,
  to: string,
): Promise<void> => {
  const values = [projectNumber, from, to];
  let given: unknown[];
  do
    given = await database.transaction(async () => {
      await database.query(raiseSql, values);
      await database.query(endDoubleSql, values);
      return database.query(giveSql, values);
    });
  while (given.length === batchSize);
  await database.query(giversSql, values);
};
