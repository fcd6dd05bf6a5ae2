import type { EventPayloads } from '@backlot/contract';
import { type Database, LockTimeout, type Outbox } from '@backlot/database';
import { recordKeySql, type SlotState } from '../collections/stored/slots.ts';
import { inCollection, startParameters } from '../sql.ts';
import type { WorkInTurns } from './building/glance.ts';
import { createTurns, shortenLockWaits, type Turn } from './building/turns.ts';
import { createWaitForWriters } from './building/writers.ts';
import { type Batch, createPace } from './pace.ts';

/** Of the slots that are building or dropping. */
export type SlotBuilder = WorkInTurns;

export interface SlotBuilderDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  workMs?: number;
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

/** Of several batches: to ask whose turn it is takes as many round trips as one of them. */
const turnMs = 50;

/**
 * One batch at a time, in one process of all. Commits don't wait for the disk: what a crash takes with it, position
 * included, is done again.
 */
const lockStatement = {
  name: 'records_lock_slots',
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended('records slots', 0)) AS free,
    set_config('synchronous_commit', 'off', true)`,
  values: [],
};

/** Others may use a slot from the last commit on: it is on the disk, and all before it. */
const lastCommitSql = 'SET LOCAL synchronous_commit TO DEFAULT';

const nextSql = `SELECT DISTINCT ON (project_id) project_id, coll_id, slot, field, state, is_known, assigned_at, position
  FROM slots WHERE state <> 'ready' ORDER BY project_id, random()`;

const sampleRows = 1000;

/** Fills columns of records from before, along the primary key; the position is in each batch's transaction. */
export const createSlotBuilder = ({
  database,
  outbox,
  workMs,
  batchRows,
}: SlotBuilderDeps): SlotBuilder => {
  const takeTurns = createTurns<SlotRow>({ database, nextSql, workMs });
  const pace = createPace({ mostRows: batchRows });
  const waitForWriters = createWaitForWriters(database);

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

  const finish = async ({ project_id, coll_id, slot, state }: SlotRow): Promise<void> => {
    const key = [project_id, coll_id, slot];
    await database.query(lastCommitSql);
    if (state === 'dropping') {
      await database.query(`DELETE FROM slots WHERE ${inCollection} AND slot = $3`, key);
    } else {
      await database.query(
        `UPDATE slots SET state = 'ready', ready_at = $4, distinct_share = coalesce((
           SELECT count(DISTINCT k${slot}) / nullif(count(*), 0)::real FROM (
             SELECT k${slot} FROM records WHERE ${inCollection} ORDER BY id DESC LIMIT ${sampleRows}) sample), 0)
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
        projectNumber: project_id,
        name: collection.name,
      });
  };

  /** Locks the records in the order in which writers of several do. */
  const fillBatch = async (slot: SlotRow, mostRows: number): Promise<Batch> => {
    const collection = { projectNumber: slot.project_id, id: slot.coll_id };
    const behind = 'id > $3::uuid';
    const start = slot.position ?? '00000000-0000-0000-0000-000000000000';
    const records = await database.query<{ id: string; size_bytes: number }>(
      `SELECT id, size_bytes FROM records WHERE ${inCollection} AND ${behind} ORDER BY id LIMIT $4 FOR NO KEY UPDATE`,
      [slot.project_id, slot.coll_id, start, mostRows],
    );
    const rows = records.length;
    const bytes = records.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    const last = records.at(-1);
    if (last) {
      const parameters = startParameters(collection, start, last.id);
      const key = slot.state === 'dropping' ? 'NULL' : recordKeySql(slot.field, parameters);
      const column = `k${slot.slot}`;
      await Promise.all([
        database.query(
          `UPDATE records SET ${column} = ${key}
           WHERE ${inCollection} AND ${behind} AND id <= $4::uuid AND ${column} IS DISTINCT FROM ${key}`,
          parameters.values,
        ),
        database.query(
          `UPDATE slots SET position = $4, filled = filled + $5 WHERE ${inCollection} AND slot = $3`,
          [slot.project_id, slot.coll_id, slot.slot, last.id, rows],
        ),
      ]);
    }
    if (rows < mostRows) await finish(slot);
    return { rows, bytes };
  };

  const runBatch = async (slot: SlotRow, mostRows: number): Promise<Batch | Turn> => {
    const work = async ([lock]: readonly { free: boolean }[]): Promise<Batch | Turn> => {
      if (!lock?.free) return 'elsewhere';
      const [, current] = await Promise.all([shortenLockWaits(database), lockSlot(slot)]);
      return current ? fillBatch(current, mostRows) : 'nothing';
    };
    return database.transactionFrom(lockStatement, work).catch((error: unknown) => {
      if (error instanceof LockTimeout) return 'waited';
      throw error;
    });
  };

  const fill = async (slot: SlotRow, collection: string): Promise<Turn> => {
    const endsAt = performance.now() + turnMs;
    let hasWorked = false;
    do {
      const startedAt = performance.now();
      const batch = await runBatch(slot, pace.rows(collection));
      if (typeof batch === 'string') return hasWorked ? 'worked' : batch;
      hasWorked = true;
      await pace.rest(collection, batch, performance.now() - startedAt);
    } while (performance.now() < endsAt);
    return 'worked';
  };

  return {
    nextSql,
    run: () =>
      takeTurns(async (slot) => {
        const collection = `${slot.project_id} ${slot.coll_id}`;
        if (!slot.is_known) {
          const change = `${collection} ${slot.slot} ${slot.assigned_at.getTime()}`;
          if (!(await waitForWriters(change))) return 'waited';
          await markKnown(slot);
        }
        return fill(slot, collection);
      }),
  };
};
