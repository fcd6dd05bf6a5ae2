import type { Database } from './database.ts';
import { workLeft } from './sweeper.ts';

export interface ExpiredRows {
  table: string;
  /** In SQL, and by an index where the table may be large. */
  condition: string;
  values?: readonly unknown[];
}

/** Their statement takes milliseconds; who wants one of the rows waits no longer. */
const batchSize = 1000;

/** Deletes a thousand of them at most and answers these columns. One that is locked is left to a later call. */
export const deleteBatch = async <Row>(
  database: Pick<Database, 'query'>,
  { table, condition, values = [] }: ExpiredRows,
  returning: string,
): Promise<{ rows: Row[]; left: typeof workLeft | undefined }> => {
  const rows = await database.query<Row>(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))
     RETURNING ${returning}`,
    values,
  );
  return { rows, left: rows.length === batchSize ? workLeft : undefined };
};

/** For a sweep: deletes a batch of each table, and says whether there may be more. */
export const deleteExpired = async (
  database: Pick<Database, 'query'>,
  tables: readonly ExpiredRows[],
): Promise<typeof workLeft | undefined> => {
  let anyLeft: typeof workLeft | undefined;
  for (const table of tables) {
    const { left } = await deleteBatch(database, table, '1');
    anyLeft ??= left;
  }
  return anyLeft;
};
