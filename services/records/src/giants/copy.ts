import type { Database } from '@backlot/database';
import { ownTableName } from '../collections/stored/records-table.ts';
import { inCollection } from '../sql.ts';

/** A collection that moves, as the job reads it. */
export interface Move {
  projectNumber: number;
  id: number;
  name: string;
  state: 'copying' | 'copied' | 'emptying';
  isKnown: boolean;
  position: string | null;
  since: Date;
}

type Key = Pick<Move, 'projectNumber' | 'id'>;

const key = ({ projectNumber, id }: Key) => [projectNumber, id];

const firstId = '00000000-0000-0000-0000-000000000000';

const withOptions = `WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`;

/** Those that are not generated. */
const readColumns = async (database: Database): Promise<string> => {
  const rows = await database.query<{ name: string }>(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
     WHERE attrelid = 'records'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
  );
  return rows.map(({ name }) => name).join(', ');
};

/** Empty, and of the same shape as the table that all share. */
export const createOwnTable = async (database: Database, move: Key): Promise<void> => {
  const table = ownTableName(move);
  await database.query(`DROP TABLE IF EXISTS ${table}`);
  await database.query(`CREATE TABLE ${table} (LIKE records INCLUDING ALL) ${withOptions}`);
  await database.query('SELECT records.bound_statistics($1::regclass)', [table]);
};

export const dropOwnTable = (database: Database, collection: Key) =>
  database.query(`DROP TABLE IF EXISTS ${ownTableName(collection)}`);

/** Returns how many rows the batch had. */
const keepPosition = async (
  database: Database,
  move: Key,
  batch: { rows: number; last: string | null } | undefined,
): Promise<number> => {
  if (batch?.last)
    await database.query(`UPDATE moves SET position = $3 WHERE ${inCollection}`, [
      ...[...key(move), batch.last],
    ]);
  return batch?.rows ?? 0;
};

/** Returns how many it has copied; fewer than `rows` at the end. */
export const copyBatch = async (database: Database, move: Move, rows: number): Promise<number> => {
  const columns = await readColumns(database);
  const [batch] = await database.query<{ rows: number; last: string | null }>(
    `WITH source AS MATERIALIZED (
       SELECT ${columns} FROM records WHERE ${inCollection} AND id > $3::uuid ORDER BY id LIMIT $4),
     copied AS (INSERT INTO ${ownTableName(move)} (${columns}) SELECT ${columns} FROM source)
     SELECT count(*)::int AS rows, max(id::text) AS last FROM source`,
    [...key(move), move.position ?? firstId, rows],
  );
  return keepPosition(database, move, batch);
};

/** Copies records once more that were written since. Returns how many writes it has made good, at most `rows`. */
export const copyChanges = async (database: Database, move: Move, rows: number) => {
  const [copied] = await database.query<{ rows: number }>(
    'SELECT records.copy_changes($1, $2, $3) AS rows',
    [...key(move), rows],
  );
  return copied?.rows ?? 0;
};

/**
 * Deletes records that have stayed behind. Returns how many; fewer than `rows` at the end. By an array, because
 * `IN` compares every record with every id where the table was never analyzed: 3 s for 1,000 of 10,000.
 */
export const deleteBatch = async (
  database: Database,
  move: Move,
  rows: number,
): Promise<number> => {
  const [batch] = await database.query<{ rows: number; last: string | null }>(
    `WITH batch AS MATERIALIZED (
       SELECT id FROM records WHERE ${inCollection} AND id > $3::uuid ORDER BY id LIMIT $4),
     deleted AS (DELETE FROM records WHERE ${inCollection} AND id = ANY (ARRAY(SELECT id FROM batch)))
     SELECT count(*)::int AS rows, max(id::text) AS last FROM batch`,
    [...key(move), move.position ?? firstId, rows],
  );
  return keepPosition(database, move, batch);
};
