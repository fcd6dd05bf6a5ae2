import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type CollectionSearch, searchWordsSql } from '../collections/stored/search-words.ts';
import { countGrowthSql } from '../collections/stored/side-sql.ts';
import { type CollectionKey, inCollection, startParameters } from '../sql.ts';
import { createRunBatch } from './building/batches.ts';
import type { Builder, Generation } from './building/build.ts';
import { createTurns, type Turn } from './building/turns.ts';
import { createWaitForWriters } from './building/writers.ts';

/** The rule of `cut_words`. */
const currentRule = 2;

/** Keeps the words that records have now, which are locked in the surrounding transaction. */
export const keepWords = async (
  database: Database,
  collection: CollectionKey,
  search: Pick<CollectionSearch, 'number' | 'fields'>,
  ids: readonly string[],
): Promise<void> => {
  const { number, fields } = search;
  const parameters = startParameters(collection, ids);
  const words = searchWordsSql(collection, { number, fields }, 'data', parameters);
  await database.query(
    `WITH filled AS (
       INSERT INTO search_texts (project_id, coll_id, number, record_id, words)
       SELECT $1, $2, ${parameters.add(number, 'int')}, id, ${words} FROM records
       WHERE ${inCollection} AND id = ANY ($3::uuid[])
       ON CONFLICT (project_id, coll_id, number, record_id) DO UPDATE SET words = excluded.words
       RETURNING new.size_bytes - coalesce(old.size_bytes, 0) AS growth),
     counted AS (${countGrowthSql('filled')})
     SELECT count(*) FROM filled`,
    parameters.values,
  );
};

type Row = Pick<Generation, 'project_id' | 'coll_id' | 'number'> &
  Pick<CollectionSearch, 'fields'> & { renewed: string | null };

const batchRows = 50;
const columns = 'project_id, coll_id, number, fields, renewed';
const isFormer = `state = 'ready' AND rule < ${currentRule}`;
const nextSql = `SELECT DISTINCT ON (project_id) ${columns} FROM searches WHERE ${isFormer} ORDER BY project_id, random()`;

/** Cuts the words of searches anew that are there by the rule before; they answer meanwhile. */
export const createWordsRenewal = (database: Database, outbox: Outbox<EventPayloads>): Builder => {
  const takeTurns = createTurns<Row>({ database, nextSql });
  const runBatch = createRunBatch(database, 'renewed words');
  const waitForWriters = createWaitForWriters(database);

  const finish = async ({ project_id, coll_id, number }: Row): Promise<void> => {
    await database.query(
      `UPDATE searches SET rule = ${currentRule}, renewed = NULL WHERE ${inCollection} AND number = $3`,
      [project_id, coll_id, number],
    );
    const [found] = await database.query<{ name: string }>(
      `SELECT name FROM collections WHERE ${inCollection}`,
      [project_id, coll_id],
    );
    if (found)
      await outbox.append('collection.changed', { projectNumber: project_id, name: found.name });
  };

  const renewBatch = async (row: Row, collection: CollectionKey): Promise<void> => {
    const start = row.renewed ?? '00000000-0000-0000-0000-000000000000';
    const found = await database.query<{ id: string }>(
      `SELECT id FROM records WHERE ${inCollection} AND id > $3 ORDER BY id LIMIT ${batchRows} FOR NO KEY UPDATE`,
      [row.project_id, row.coll_id, start],
    );
    const ids = found.map(({ id }) => id);
    await keepWords(database, collection, row, ids);
    if (ids.length < batchRows) return finish(row);
    await database.query(`UPDATE searches SET renewed = $4 WHERE ${inCollection} AND number = $3`, [
      row.project_id,
      row.coll_id,
      row.number,
      ids.at(-1),
    ]);
  };

  const renewNext = async (row: Row): Promise<Turn> => {
    const key = { projectNumber: row.project_id, id: row.coll_id };
    const [current] = await database.query<Row>(
      `SELECT ${columns} FROM searches WHERE ${inCollection} AND number = $3 AND ${isFormer} FOR UPDATE SKIP LOCKED`,
      [row.project_id, row.coll_id, row.number],
    );
    if (!current) return 'nothing';
    await renewBatch(current, key);
    return 'worked';
  };

  return {
    nextSql,
    run: () =>
      takeTurns(async (row) => {
        // Those that have begun with the rule before.
        const begins = row.renewed === null;
        if (begins && !(await waitForWriters(`${row.project_id} ${row.coll_id} ${row.number}`)))
          return 'waited';
        return runBatch(() => renewNext(row));
      }),
  };
};
