import type { Database } from '@backlot/database';
import { startParameters } from '../../sql.ts';
import { changedIds, type Update } from './change.ts';
import { resultsSql } from './rows-sql.ts';

type Result = Readonly<Record<string, unknown>>;

/** What fields of locked records become by a change, by the records' ids; of those that it would change. */
export const readResults = async (
  database: Database,
  change: Update,
  fields: readonly string[],
): Promise<ReadonlyMap<string, Result>> => {
  const ids = changedIds(change);
  const parameters = startParameters(change.collection, ids.length === 1 ? ids[0] : ids);
  const rows = await database.query<{ id: string; result: Result | null }>(
    resultsSql(change, fields, parameters),
    parameters.values,
  );
  return new Map(rows.map(({ id, result }) => [id, result ?? {}]));
};
