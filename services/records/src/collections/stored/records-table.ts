import type { Database } from '@backlot/database';
import { inCollection, insertFromSql } from '../../sql.ts';

/** Of a collection with a table of its own: while that is filled its records are still in the shared one. */
export type OwnTable = 'filling' | 'used';

export interface StoredCollection {
  projectNumber: number;
  id: number;
  ownTable?: OwnTable | undefined;
}

/** The table that a large collection has for itself: a name made of numbers alone. */
export const ownTableName = ({ projectNumber, id }: StoredCollection): string =>
  `records_large.p${BigInt(projectNumber)}_c${BigInt(id)}`;

/** The table of a collection's records, which a statement calls `records` wherever it is. */
export const recordsTable = (collection: StoredCollection): string =>
  collection.ownTable === 'used' ? `${ownTableName(collection)} AS records` : 'records';

/** Tells the statements of a collection's own table from those of the shared one. */
export const ownTableSuffix = ({ projectNumber, id, ownTable }: StoredCollection): string =>
  ownTable === 'used' ? `p${projectNumber}_c${id}` : '';

/** A table of WITH, with a comma before it, that tells the move of the written records that `written` has. */
export const changeLogSql = ({ ownTable }: StoredCollection, written: string): string =>
  ownTable === 'filling'
    ? `, logged AS (${insertFromSql('moved_changes', { id: 'id' }, written)})`
    : '';

/** The collection's own table, which stays what it is until the end of the transaction; for jobs. */
export const keepTable = async (
  database: Database,
  { projectNumber, id }: StoredCollection,
): Promise<OwnTable | undefined> => {
  const [row] = await database.query<{ own_table: OwnTable | null }>(
    `SELECT own_table FROM collections WHERE ${inCollection} FOR SHARE`,
    [projectNumber, id],
  );
  return row?.own_table ?? undefined;
};
