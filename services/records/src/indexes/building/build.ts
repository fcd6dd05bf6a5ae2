import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { GenerationTable } from '../../collections/stored/generations.ts';
import { countGrowthSql } from '../../collections/stored/side-sql.ts';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { createRunBatch, withRest } from './batches.ts';
import type { WorkInTurns } from './glance.ts';
import { createTurns, type Turn } from './turns.ts';
import { createWaitForWriters } from './writers.ts';

/** Of what is building or dropping. */
export type Builder = WorkInTurns;

export interface BuilderDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  quota: {
    /** Whether the records of the project, or of its owner, have as many bytes as they may. */
    isFull(projectNumber: number): Promise<boolean>;
  };
}

/** What is kept beside the records of a collection from an epoch on. */
export interface Generation {
  project_id: number;
  coll_id: number;
  number: number;
  state: 'building' | 'dropping';
  is_known: boolean;
  position: string | null;
}

/** Of a statement that reads all records of a collection. */
const wholeTimeoutMs = 600_000;

/** `again`: the same records once more. A function runs after the batch, and does what follows from it. */
export type Filled = 'done' | 'again' | (() => Promise<void>);

export interface Kept<Row extends Generation> {
  table: GenerationTable;
  /** Its columns beside those of a generation. */
  columns: readonly string[];
  /** Where the rows of a generation are, what names one of them, and what the quota counts for it. */
  rows: { table: string; key: string; bytes: string };
  batchRows: number;
  /** Fills in what is kept for these records, which are locked in the surrounding transaction. */
  fill?(collection: CollectionKey, row: Row, ids: readonly string[]): Promise<Filled>;
  /** In place of batches: fills in all of it by a statement, which no writer waits for. */
  fillAll?(collection: CollectionKey, row: Row): Promise<unknown>;
}

type Outcome = Turn | (() => Promise<void>);

const isGeneration = `${inCollection} AND number = $3`;
export const generationKey = ({ project_id, coll_id, number }: Generation) => [
  project_id,
  coll_id,
  number,
];

/**
 * Fills in what is kept for records from before, along the primary key, and removes what is kept no longer; the position
 * is in each batch's transaction.
 */
export const createBuilder = <Row extends Generation>(
  database: Database,
  { table, columns, rows, batchRows, fill, fillAll }: Kept<Row>,
): Builder => {
  const selected = [
    'project_id',
    'coll_id',
    'number',
    'state',
    'is_known',
    'position',
    ...columns,
  ].join(', ');
  const nextSql = `SELECT DISTINCT ON (project_id) ${selected} FROM ${table}
    WHERE state IN ('building', 'dropping') ORDER BY project_id, random()`;
  const takeTurns = createTurns<Row>({ database, nextSql });
  const waitForWriters = createWaitForWriters(database);
  const runBatch = createRunBatch(database, table);

  const fillBatch = async (row: Row, collection: CollectionKey): Promise<Outcome> => {
    const start = row.position ?? '00000000-0000-0000-0000-000000000000';
    const found = await database.query<{ id: string }>(
      `SELECT id FROM records WHERE ${inCollection} AND id > $3 ORDER BY id LIMIT $4 FOR NO KEY UPDATE`,
      [row.project_id, row.coll_id, start, batchRows],
    );
    const ids = found.map(({ id }) => id);
    const filled = (await fill?.(collection, row, ids)) ?? 'done';
    if (filled !== 'done') return filled === 'again' ? 'worked' : filled;
    const isOver = ids.length < batchRows;
    await database.query(
      `UPDATE ${table} SET position = coalesce($4, position), state = $5 WHERE ${isGeneration}`,
      [...generationKey(row), ids.at(-1) ?? null, isOver ? 'ready' : 'building'],
    );
    return 'worked';
  };

  const fillWhole = async (row: Row, collection: CollectionKey): Promise<Outcome> => {
    await fillAll?.(collection, row);
    await database.query(
      `UPDATE ${table} SET state = 'ready' WHERE ${isGeneration}`,
      generationKey(row),
    );
    return 'worked';
  };

  const dropBatch = async (row: Row): Promise<Outcome> => {
    const [dropped] = await database.query<{ rows: number }>(
      `WITH dropped AS (
         DELETE FROM ${rows.table} WHERE ${isGeneration} AND ${rows.key} IN (
           SELECT ${rows.key} FROM ${rows.table} WHERE ${isGeneration} ORDER BY ${rows.key} LIMIT $4)
         RETURNING -${rows.bytes} AS growth),
       counted AS (${countGrowthSql('dropped')})
       SELECT count(*) AS rows FROM dropped`,
      [...generationKey(row), batchRows],
    );
    if (dropped?.rows !== batchRows)
      await database.query(`DELETE FROM ${table} WHERE ${isGeneration}`, generationKey(row));
    return 'worked';
  };

  const workOn = async (row: Row): Promise<Outcome> => {
    const key = { projectNumber: row.project_id, id: row.coll_id };
    const [current] = await database.query<Row>(
      `SELECT ${selected} FROM ${table} WHERE ${isGeneration} AND state = $4 AND is_known FOR UPDATE SKIP LOCKED`,
      [...generationKey(row), row.state],
    );
    if (!current) return 'nothing';
    if (current.state === 'dropping') return dropBatch(current);
    return fillAll ? fillWhole(current, key) : fillBatch(current, key);
  };

  const makeKnown = async (row: Row): Promise<boolean> => {
    if (row.is_known) return true;
    if (!(await waitForWriters(`${generationKey(row).join(' ')} ${row.state}`))) return false;
    await database.query(
      `UPDATE ${table} SET is_known = true WHERE ${isGeneration} AND state = $4`,
      [...generationKey(row), row.state],
    );
    return true;
  };

  const takeTurn = async (row: Row): Promise<Turn> => {
    const outcome = await runBatch(
      () => workOn(row),
      fillAll && { statementTimeoutMs: wholeTimeoutMs },
    );
    if (typeof outcome !== 'function') return outcome;
    await outcome();
    return 'worked';
  };

  return {
    nextSql,
    run: () =>
      takeTurns(async (row) => ((await makeKnown(row)) ? withRest(() => takeTurn(row)) : 'waited')),
  };
};
