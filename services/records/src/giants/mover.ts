import { setTimeout as pause } from 'node:timers/promises';
import type { EventPayloads } from '@backlot/contract';
import {
  type Database,
  LockTimeout,
  type Outbox,
  type TransactionOptions,
} from '@backlot/database';
import { readAcrossProjects } from '../across-projects.ts';
import { ownTableName } from '../collections/stored/records-table.ts';
import { createWaitForWriters } from '../indexes/building/writers.ts';
import { inCollection } from '../sql.ts';
import { copyBatch, copyChanges, createOwnTable, deleteBatch, type Move } from './copy.ts';

export interface Mover {
  /** Chooses a collection that has become large enough; copying begins with the next `run`. */
  begin(): Promise<void>;
  /** Works for about a second on the moves under way; goes on at the next call. */
  run(): Promise<void>;
}

export interface MoverDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** From how many records on a collection gets a table of its own; 0: none does. */
  giantRows: number;
  /** Epoch milliseconds. */
  now: () => number;
  /** How long one call works. */
  workMs?: number;
  /** Rows of the first batch, and of any at most. */
  batchRows?: number;
}

export const beginEveryMs = 60_000;
/** Calls follow each other at once where there is work: a call under way is not repeated. */
export const moveEveryMs = 500;

/** A batch that takes longer is followed by a smaller one. */
const batchMs = 60;
const leastRows = 50;
const growth = 2;

/** Until then each process has heard of the move: a collection is cached for 5 s, and a call takes 30 s at most. */
const knownAfterMs = 60_000;
/** An answer that is read in parts may have begun before the records moved. */
const keepMs = 300_000;

/** Writers wait while the last changes are copied, and before it for those who write. */
const lastChanges = 300;
const lockTimeoutMs = 50;

const analyzeTimeoutMs = 600_000;

const lockSql = `SELECT pg_try_advisory_xact_lock(hashtextextended('records moves', 0)) AS free`;

/** While an update rolls out, processes of the version before know of no other table. */
const maySql = `SELECT NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
  AND (SELECT max(run_on) FROM migrations) < now() - interval '1 hour' AS may`;

/** Of the owner who has fewest such tables: many large collections of one keep nobody else waiting for all of them. */
const largeSql = `SELECT c.project_id AS "projectNumber", coll_id AS id, name
  FROM collections c LEFT JOIN project_owners p ON p.project_id = c.project_id
  WHERE own_table IS NULL AND row_count >= $1 AND counted_at IS NOT NULL AND deleted_at IS NULL
    AND NOT EXISTS (SELECT FROM moves WHERE state <> 'emptying')
  ORDER BY (SELECT count(*) FROM project_owners o JOIN collections own ON own.project_id = o.project_id
    WHERE o.owner_id = p.owner_id AND own.own_table IS NOT NULL), row_count DESC LIMIT 1`;

const moveColumns = `moves.project_id AS "projectNumber", moves.coll_id AS id, moves.state,
  moves.is_known AS "isKnown", moves.position, moves.since`;

const nextSql = `SELECT ${moveColumns}, name FROM moves
    JOIN collections c ON c.project_id = moves.project_id AND c.coll_id = moves.coll_id
  WHERE state <> 'emptying' OR since < $1 ORDER BY since LIMIT 1`;

/**
 * Moves collections to tables of their own while they are read and written. Records are copied along the primary
 * key; what is written meanwhile is noted with each write and copied again. At the end writers wait until
 * the last of it is copied. Where a move has come to is in the transaction of each step.
 */
export const createMover = ({
  database,
  outbox,
  giantRows,
  now,
  workMs = 1000,
  batchRows = 1000,
}: MoverDeps): Mover => {
  /** In a transaction, unless another process is at it. */
  const runAlone = <T>(work: () => Promise<T>, options?: TransactionOptions) =>
    database.transaction(async () => {
      const [lock] = await database.query<{ free: boolean }>(lockSql);
      return lock?.free ? work() : undefined;
    }, options);

  const tellAll = ({ projectNumber, name }: Pick<Move, 'projectNumber' | 'name'>) =>
    outbox.append('collection.changed', { projectNumber, name });

  const setState = ({ projectNumber, id }: Move, state: Move['state']) =>
    database.query(
      `UPDATE moves SET state = $3, since = $4, position = NULL WHERE ${inCollection}`,
      [projectNumber, id, state, new Date(now())],
    );

  /** One step of the move, if it is still where it was. Returns whether there is more to do at once. */
  const step = (
    move: Move,
    work: (current: Move) => Promise<boolean>,
    options?: TransactionOptions,
  ): Promise<boolean> =>
    runAlone(async () => {
      const { projectNumber, id, name, state } = move;
      const [current] = await database.query<Omit<Move, 'name'>>(
        `SELECT ${moveColumns} FROM moves WHERE ${inCollection} AND state = $3 FOR UPDATE`,
        [projectNumber, id, state],
      );
      return current ? work({ ...current, name }) : false;
    }, options).then((goesOn) => goesOn ?? false);

  const waitForWriters = createWaitForWriters(database);

  const makeKnown = async (move: Move): Promise<boolean> => {
    if (!(await waitForWriters(`${move.projectNumber} ${move.id}`))) return false;
    return step(move, async ({ projectNumber, id }) => {
      await database.query(`UPDATE moves SET is_known = true WHERE ${inCollection}`, [
        ...[projectNumber, id],
      ]);
      return true;
    });
  };

  const copy = async (move: Move, rows: number): Promise<true> => {
    if ((await copyBatch(database, move, rows)) < rows) {
      await database.query(`ANALYZE ${ownTableName(move)}`);
      await setState(move, 'copied');
    }
    return true;
  };

  /**
   * Holds writers off from its last statement on. That leaves together with COMMIT, so that they wait for PostgreSQL
   * alone and not for a busy process.
   */
  const switchTable = (move: Move): Promise<boolean> =>
    step(move, async (current) => {
      const { projectNumber, id } = current;
      const key = [projectNumber, id];
      await database.query(`SELECT FROM collections WHERE ${inCollection} FOR NO KEY UPDATE`, key);
      await setState(current, 'emptying');
      await tellAll(current);
      database.commitWith({
        name: 'records_switch_table',
        text: 'SELECT records.switch_table($1, $2, $3, $4)',
        values: [...key, lastChanges, `${lockTimeoutMs}ms`],
      });
      return false;
    }).catch((error: unknown) => {
      if (error instanceof LockTimeout) return false;
      throw error;
    });

  const finish = ({ projectNumber, id }: Move) =>
    database.query(`DELETE FROM moves WHERE ${inCollection}`, [projectNumber, id]);

  const advance = async (move: Move, rows: number): Promise<boolean> => {
    if (move.state === 'emptying') {
      return step(move, async (current) => {
        if ((await deleteBatch(database, current, rows)) === rows) return true;
        await finish(current);
        return false;
      });
    }
    if (!move.isKnown) return makeKnown(move);
    if (move.state === 'copying')
      return step(move, (current) => copy(current, rows), { statementTimeoutMs: analyzeTimeoutMs });
    const copied = await step(
      move,
      async (current) =>
        (await copyChanges(database, current, rows)) >= Math.min(rows, lastChanges),
    );
    if (copied) return true;
    return move.since.getTime() + knownAfterMs <= now() && switchTable(move);
  };

  return {
    async begin() {
      if (giantRows === 0) return;
      const [allowed] = await database.query<{ may: boolean }>(maySql);
      if (!allowed?.may) return;
      const [large] = await readAcrossProjects<Move>(database, largeSql, [giantRows]);
      if (!large) return;
      await runAlone(async () => {
        const { projectNumber, id } = large;
        const [chosen] = await database.query(
          `UPDATE collections SET own_table = 'filling', epoch = epoch + 1
           WHERE ${inCollection} AND own_table IS NULL RETURNING 1`,
          [projectNumber, id],
        );
        if (!chosen) return;
        await createOwnTable(database, large);
        await database.query(
          `INSERT INTO moves (project_id, coll_id, state, since) VALUES ($1, $2, 'copying', $3)`,
          [projectNumber, id, new Date(now())],
        );
        await tellAll(large);
      });
    },
    async run() {
      const untilMs = performance.now() + workMs;
      let rows = batchRows;
      while (performance.now() < untilMs) {
        const before = new Date(now() - keepMs);
        const [move] = await readAcrossProjects<Move>(database, nextSql, [before]);
        if (!move) return;
        const startedAt = performance.now();
        if (!(await advance(move, rows))) return;
        const tookMs = performance.now() - startedAt;
        const inTime = rows * Math.min(growth, batchMs / tookMs);
        rows = Math.min(batchRows, Math.max(leastRows, Math.floor(inTime)));
        // As long a pause as the batch took leaves at least half of one connection's work to others.
        await pause(tookMs);
      }
    },
  };
};
