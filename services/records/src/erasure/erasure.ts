import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { countGrowthSql } from '../collections/stored/side-sql.ts';
import { collectionTables } from '../collections/table/removal.ts';
import { createRunBatch, withRest } from '../indexes/building/batches.ts';
import type { WorkInTurns } from '../indexes/building/glance.ts';
import { createTurns, type Turn } from '../indexes/building/turns.ts';
import { sideTables } from '../record/change/side-effects.ts';
import { lockTotals } from '../record/quota/totals.ts';
import { inCollection, insertFromSql } from '../sql.ts';

interface DeletedRow {
  project_id: number;
  coll_id: number;
  former_name: string | null;
  /** Whether nobody is left who read the collection before it was deleted. */
  is_over: boolean;
}

/** Of deleted collections. */
export type CollectionEraser = WorkInTurns;

const batchRows = 500;

/** Who knows the collection has done with it by then: an answer in parts takes five minutes at most. */
const afterAll = "interval '6 minutes'";

const columns = `project_id, coll_id, former_name, deleted_at < now() - ${afterAll} AS is_over`;
const isNext = `deleted_at IS NOT NULL AND (deleted_at < now() - ${afterAll} OR former_name IS NULL AND NOT is_erased)`;
const nextSql = `SELECT DISTINCT ON (project_id) ${columns} FROM collections
  WHERE ${isNext} ORDER BY project_id, deleted_at`;

const toKey = ({ project_id, coll_id }: DeletedRow) => [project_id, coll_id];

/** By an array, because `IN` compares every record with every id where the table was never analyzed. */
const eraseRecordsSql = `WITH gone AS (
    DELETE FROM records WHERE ${inCollection} AND id = ANY (ARRAY(
      SELECT id FROM records WHERE ${inCollection} ORDER BY id LIMIT $3)) RETURNING size_bytes),
  counted AS (${insertFromSql('count_delta', { d: '-rows', bytes: '-bytes' }, '(SELECT count(*)::int AS rows, sum(size_bytes) AS bytes FROM gone) total', 'rows > 0')})
  SELECT count(*) AS rows FROM gone`;

const eraseSideSql = (table: string, key: string, bytes: string) => `WITH gone AS (
    DELETE FROM ${table} WHERE ${inCollection} AND ${key} IN (
      SELECT ${key.slice(1, -1)} FROM ${table} WHERE ${inCollection} ORDER BY ${key.slice(1, -1)} LIMIT $3)
    RETURNING -${bytes} AS growth),
  counted AS (${countGrowthSql('gone')})
  SELECT count(*) AS rows FROM gone`;

const statements = [
  eraseRecordsSql,
  ...sideTables.map(([table, key, bytes]) => eraseSideSql(table, key, bytes)),
];

/**
 * Erases what is left of deleted collections in counted batches; owners take turns. The collection itself goes last,
 * once nobody can know it any more: its number is then free.
 */
export const createCollectionEraser = (
  database: Database,
  outbox: Outbox<EventPayloads>,
): CollectionEraser => {
  const takeTurns = createTurns<DeletedRow>({ database, nextSql });
  const runBatch = createRunBatch(database, 'erasure');

  /** A write that was under way when the collection gave up its place has brought a record. */
  const restore = async (row: DeletedRow): Promise<boolean> => {
    const key = toKey(row);
    const [record] = await database.query(`SELECT FROM records WHERE ${inCollection} LIMIT 1`, key);
    if (!record) return false;
    const [restored] = await database.query<{ name: string }>(
      `UPDATE collections SET deleted_at = NULL, former_name = NULL, epoch = epoch + 1, name = CASE
         WHEN EXISTS (SELECT FROM collections other WHERE other.project_id = $1 AND other.name = $3)
         THEN left($3, 50) || '_' || coll_id ELSE $3 END
       WHERE ${inCollection} RETURNING name`,
      [...key, row.former_name],
    );
    if (restored)
      await outbox.append('collection.changed', {
        projectNumber: row.project_id,
        name: restored.name,
      });
    return true;
  };

  const endCollection = async (row: DeletedRow): Promise<void> => {
    const key = toKey(row);
    await lockTotals(database);
    for (const table of collectionTables)
      await database.query(`DELETE FROM ${table} WHERE ${inCollection}`, key);
    const [left] = await database.query<{ records: number; bytes: number }>(
      `DELETE FROM collections WHERE ${inCollection} RETURNING row_count AS records, byte_count AS bytes`,
      key,
    );
    await database.query(
      'UPDATE totals SET records = records - $2, bytes = bytes - $3 WHERE project_id = $1',
      [row.project_id, left?.records ?? 0, left?.bytes ?? 0],
    );
  };

  const erase = async (row: DeletedRow): Promise<Turn> => {
    if (row.is_over && row.former_name !== null && (await restore(row))) return 'worked';
    for (const statement of statements) {
      const [gone] = await database.query<{ rows: number }>(statement, [...toKey(row), batchRows]);
      if ((gone?.rows ?? 0) > 0) return 'worked';
    }
    const isErasedSql = `UPDATE collections SET is_erased = true WHERE ${inCollection}`;
    await (row.is_over ? endCollection(row) : database.query(isErasedSql, toKey(row)));
    return 'worked';
  };

  const eraseNext = async (row: DeletedRow): Promise<Turn> => {
    const [current] = await database.query<DeletedRow>(
      `SELECT ${columns} FROM collections WHERE ${inCollection} AND ${isNext} FOR NO KEY UPDATE`,
      toKey(row),
    );
    return current ? erase(current) : 'nothing';
  };

  return { nextSql, run: () => takeTurns((row) => withRest(() => runBatch(() => eraseNext(row)))) };
};
