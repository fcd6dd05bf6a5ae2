import type { EventPayloads } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import { asKey, until } from '@backlot/testing';
import { createMover } from '../giants/mover.ts';
import { foldTotals } from '../record/quota/totals.ts';
import type { TestBed } from './test-bed.ts';

/** Moves of collections to tables of their own, one step after the other. On a Citus cluster nothing moves. */
export interface Moves {
  isCluster: boolean;
  /** The largest collection of 2,000 records or more. */
  begin(): Promise<void>;
  untilCopied(name: string): Promise<void>;
  untilMoved(name: string): Promise<void>;
  /** Until a move waits for who writes. */
  untilTried(): Promise<void>;
  untilGivenUp(): Promise<void>;
  untilEmptied(name: string): Promise<void>;
  /** Where its records are. */
  tableOf(name: string): Promise<string>;
}

const giantRows = 2000;
const timeoutMs = 180_000;

/** @param others processes with the same database and clock */
export const createMoves = async (
  bed: TestBed,
  others: readonly TestBed[] = [],
): Promise<Moves> => {
  const { database, isCluster } = bed;
  const outbox = createOutbox<EventPayloads>(database, () => {});
  const mover = createMover({ database, outbox, giantRows, now: bed.clock.now });
  // Until an hour after a migration nothing moves.
  await bed.ownerDatabase.query(`UPDATE migrations SET run_on = run_on - interval '1 day'`);

  /** In steps, between which the calls arrive that were signed before. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5000) {
      bed.clock.pass(5000);
      for (const process of [bed, ...others])
        await process.call('GET', '/db/nothing', { identity: asKey() });
    }
  };
  const readState = async (name: string) => {
    const [row] = await database.query<{ own_table: string | null; state: string | null }>(
      `SELECT own_table, state FROM collections c LEFT JOIN moves USING (project_id, coll_id) WHERE name = $1`,
      [name],
    );
    return row;
  };
  const untilCopied = async (name: string) => {
    if (isCluster) return;
    const isCopied = async () => (await readState(name))?.state === 'copied';
    await until(isCopied, { timeoutMs, what: 'the copy' });
  };
  const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const isTried = async () => (await database.query(waits)).length > 0;
  return {
    isCluster,
    async begin() {
      if (isCluster) return mover.begin();
      // Another sweep may be folding just now.
      const begins = async () => {
        await foldTotals(database);
        await mover.begin();
        return (await database.query(`SELECT FROM moves WHERE state <> 'emptying'`)).length > 0;
      };
      await until(begins, { what: 'the beginning of a move' });
    },
    untilCopied,
    async untilMoved(name) {
      if (isCluster) return;
      await untilCopied(name);
      await pass(61_000);
      const isMoved = async () => (await readState(name))?.own_table === 'used';
      await until(isMoved, { timeoutMs, what: 'the move' });
    },
    async untilTried() {
      if (!isCluster) await until(isTried, { what: 'a try' });
    },
    async untilGivenUp() {
      if (!isCluster) await until(async () => !(await isTried()), { what: 'its end' });
    },
    async untilEmptied(name) {
      if (isCluster) return;
      await pass(301_000);
      const isEmptied = async () => (await readState(name))?.state === null;
      await until(isEmptied, { timeoutMs, what: 'the shared table without its records' });
    },
    async tableOf(name) {
      const [row] = await database.query<{ table: string }>(
        `SELECT CASE WHEN own_table = 'used' THEN format('records_large.p%s_c%s', project_id, coll_id)
           ELSE 'records' END AS table FROM collections WHERE name = $1`,
        [name],
      );
      return row?.table ?? '';
    },
  };
};
