import { setTimeout as pause } from 'node:timers/promises';
import type { EventPayloads } from '@backlot/contract';
import { type Database, type Outbox, workLeft } from '@backlot/database';
import { readAcrossProjects } from '../across-projects.ts';
import { keepTable, recordsTable } from '../giants/records-table.ts';
import { inCollection, startParameters } from '../sql.ts';
import { recordKeySql, type SlotState } from './slots.ts';
import { waitForWriters } from './writers.ts';

export interface SlotBuilder {
  /** Works for about a second on the slots that are building or dropping; goes on at the next call, if any is left. */
  run(): Promise<typeof workLeft | undefined>;
}

export interface SlotBuilderDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** How long one call works. */
  workMs?: number;
  /** Rows of the first batch, and of any at most. */
  batchRows?: number;
}

interface SlotRow {
  project_id: number;
  coll_id: number;
  slot: number;
  field: string;
  state: SlotState;
  is_known: boolean;
  assigned_at: Date;
  position: string | null;
}

export const buildEveryMs = 500;

/** A batch that takes longer is followed by a smaller one: writers of its records wait for its end. */
const batchMs = 30;
const leastRows = 50;

/** Of a batch's time: it leaves a third of one connection's work to others. */
const pauseShare = 0.5;

const growth = 2;

/**
 * Batches run one at a time, in one process of all. Their commits do not wait for the disk, which is up to a tenth
 * of their time and longer where others write: what a crash takes with it, position included, is done again.
 */
const lockSql = `SELECT pg_try_advisory_xact_lock(hashtextextended('records slots', 0)) AS free,
  set_config('synchronous_commit', 'off', true)`;

/** Others may use a slot from the last commit on: it is on the disk, and all before it. */
const lastCommitSql = 'SET LOCAL synchronous_commit TO DEFAULT';

/** While records are copied, what is written to them has to be copied again: slots wait. */
const nextSql = `SELECT slots.project_id, slots.coll_id, slot, field, state, is_known, assigned_at, position
  FROM slots JOIN collections c ON c.project_id = slots.project_id AND c.coll_id = slots.coll_id
  WHERE state <> 'ready' AND own_table IS DISTINCT FROM 'filling' ORDER BY random() LIMIT 1`;

const sampleRows = 1000;

/**
 * Fills the slots' columns of records from before, in batches along the primary key. Where it has come to is
 * in the batch's transaction: a process that dies loses and repeats nothing.
 */
export const createSlotBuilder = ({
  database,
  outbox,
  workMs = 1000,
  batchRows = 1000,
}: SlotBuilderDeps): SlotBuilder => {
  const markKnown = ({ project_id, coll_id, slot, assigned_at }: SlotRow) =>
    database.query(
      `UPDATE slots SET is_known = true WHERE ${inCollection} AND slot = $3 AND assigned_at = $4`,
      [project_id, coll_id, slot, assigned_at],
    );

  /** The slot as it is now, locked, so that it stays the field's until the batch is committed. */
  const lockSlot = async ({ project_id, coll_id, slot, field, state }: SlotRow) => {
    const [current] = await database.query<SlotRow>(
      `SELECT project_id, coll_id, slot, field, state, is_known, assigned_at, position FROM slots
       WHERE ${inCollection} AND slot = $3 AND field = $4 AND state = $5 AND is_known
       FOR UPDATE SKIP LOCKED`,
      [project_id, coll_id, slot, field, state],
    );
    return current;
  };

  const finish = async (
    { project_id, coll_id, slot, state }: SlotRow,
    table: string,
  ): Promise<void> => {
    const key = [project_id, coll_id, slot];
    await database.query(lastCommitSql);
    if (state === 'dropping') {
      await database.query(`DELETE FROM slots WHERE ${inCollection} AND slot = $3`, key);
    } else {
      await database.query(
        `UPDATE slots SET state = 'ready', ready_at = $4, distinct_share = coalesce((
           SELECT count(DISTINCT k${slot}) / nullif(count(*), 0)::real FROM (
             SELECT k${slot} FROM ${table} WHERE ${inCollection} ORDER BY id DESC LIMIT ${sampleRows}) sample), 0)
         WHERE ${inCollection} AND slot = $3`,
        [...key, new Date()],
      );
    }
    const [collection] = await database.query<{ name: string }>(
      `SELECT name FROM collections WHERE ${inCollection}`,
      [project_id, coll_id],
    );
    if (collection)
      await outbox.append('collection.changed', {
        ...{ projectNumber: project_id, name: collection.name },
      });
  };

  /** Locks the records in the order in which writers of several do. Returns how many it had. */
  const fillBatch = async (slot: SlotRow, table: string, rows: number): Promise<number> => {
    const collection = { projectNumber: slot.project_id, id: slot.coll_id };
    const behind = 'id > $3::uuid';
    const start = slot.position ?? '00000000-0000-0000-0000-000000000000';
    const ids = await database.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${inCollection} AND ${behind} ORDER BY id LIMIT $4 FOR NO KEY UPDATE`,
      [slot.project_id, slot.coll_id, start, rows],
    );
    const last = ids.at(-1);
    if (last) {
      const parameters = startParameters(collection, start, last.id);
      const key = slot.state === 'dropping' ? 'NULL' : recordKeySql(slot.field, parameters);
      const column = `k${slot.slot}`;
      await database.query(
        `UPDATE ${table} SET ${column} = ${key}
         WHERE ${inCollection} AND ${behind} AND id <= $4::uuid AND ${column} IS DISTINCT FROM ${key}`,
        parameters.values,
      );
      await database.query(`UPDATE slots SET position = $4 WHERE ${inCollection} AND slot = $3`, [
        slot.project_id,
        slot.coll_id,
        slot.slot,
        last.id,
      ]);
    }
    if (ids.length < rows) await finish(slot, table);
    return ids.length;
  };

  /** Returns whether there may be more to do for the slot; nothing where others hold it. */
  const runBatch = (slot: SlotRow, rows: number): Promise<boolean | undefined> =>
    database.transaction(async () => {
      const [lock] = await database.query<{ free: boolean }>(lockSql);
      if (!lock?.free) return undefined;
      const collection = { projectNumber: slot.project_id, id: slot.coll_id };
      const ownTable = await keepTable(database, collection);
      const current = ownTable === 'filling' ? undefined : await lockSlot(slot);
      if (!current) return undefined;
      const table = recordsTable({ ...collection, ownTable });
      return (await fillBatch(current, table, rows)) === rows;
    });

  return {
    async run() {
      const untilMs = performance.now() + workMs;
      let rows = batchRows;
      while (performance.now() < untilMs) {
        const [slot] = await readAcrossProjects<SlotRow>(database, nextSql);
        if (!slot) return undefined;
        if (!slot.is_known) {
          if (!(await waitForWriters(database, untilMs))) return workLeft;
          await markKnown(slot);
        }
        const startedAt = performance.now();
        const goesOn = await runBatch(slot, rows);
        if (goesOn === undefined) return undefined;
        const tookMs = performance.now() - startedAt;
        const inTime = rows * Math.min(growth, batchMs / tookMs);
        rows = Math.min(batchRows, Math.max(leastRows, Math.floor(inTime)));
        if (goesOn) await pause(tookMs * pauseShare);
      }
      return workLeft;
    },
  };
};
