import type { Database } from '@backlot/database';
import type { Access } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import { rowPolicySql } from '../../collections/terms/policy-sql.ts';
import type { RowPolicy } from '../../collections/terms/terms.ts';
import { inCollection, startParameters } from '../../sql.ts';

export interface LockedRow {
  id: string;
  readable: boolean | null;
  change: boolean | null;
  delete: boolean | null;
  count: boolean | null;
}

/** Locks the records in one order for all batches, so that two of them don't wait for each other. */
export const lockRecords = async (
  database: Database,
  collection: Collection,
  access: Access,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LockedRow>> => {
  const parameters = startParameters(collection, ids);
  const { rights } = access;
  const test = (policy: RowPolicy) => rowPolicySql(policy, access, parameters) ?? 'true';
  const rows = await database.query<LockedRow>(
    `SELECT id, ${test(rights.read)} AS readable, ${test(rights.change)} AS change, ${test(rights.delete)} AS delete,
       ${test(rights.count)} AS count FROM records
     WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id FOR UPDATE`,
    parameters.values,
  );
  return new Map(rows.map((row) => [row.id, row]));
};
