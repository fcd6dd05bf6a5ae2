import { type Database, workLeft } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import { readAcrossProjects } from '../../across-projects.ts';

/** `waited`: for others, and not to the end. `elsewhere`: another process is at it. */
export type Turn = 'worked' | 'waited' | 'nothing' | 'elsewhere';

export interface TurnsOptions {
  database: Database;
  /** Selects what there is to do, with the column `project_id`, one row of each project. */
  nextSql: string;
  workMs?: number | undefined;
}

/** Works until there is nothing left to do, or the time is over. */
export type Turns<Row> = (
  work: (row: Row) => Promise<Turn>,
) => Promise<typeof workLeft | undefined>;

/** At the beginning of a transaction: who builds waits no longer for a lock, so that others' turns come. */
export const shortenLockWaits = (database: Database): Promise<unknown> =>
  Promise.all([
    // A cluster's other nodes are told what is set from here on.
    database.query(`SET LOCAL citus.propagate_set_commands = 'local'`),
    database.query(`SET LOCAL lock_timeout = '100ms'`),
  ]);

const maxRemembered = 10_000;

const ownersSql =
  'SELECT project_id, owner_id FROM project_owners WHERE project_id = ANY ($1::int8[])';

/** Owners take short turns, whoever has waited longest first; a project without an owner is one of its own. */
export const createTurns = <Row extends { project_id: number }>({
  database,
  nextSql,
  workMs = 1000,
}: TurnsOptions): Turns<Row> => {
  const lastTurns = new LRUCache<string, number>({ max: maxRemembered });
  let turn = 0;

  const readRound = async (): Promise<{ owner: string; row: Row }[]> => {
    const rows = await readAcrossProjects<Row>(database, nextSql);
    if (rows.length === 0) return [];
    const known = await database.query<{ project_id: number; owner_id: string | null }>(ownersSql, [
      rows.map(({ project_id }) => project_id),
    ]);
    const owners = new Map(known.map(({ project_id, owner_id }) => [project_id, owner_id]));
    const byOwner = Map.groupBy(
      rows,
      ({ project_id }) => owners.get(project_id) ?? `project ${project_id}`,
    );
    return [...byOwner]
      .map(([owner, own]) => ({ owner, row: own[Math.floor(Math.random() * own.length)] as Row }))
      .sort((a, b) => (lastTurns.get(a.owner) ?? 0) - (lastTurns.get(b.owner) ?? 0));
  };

  return async (work) => {
    const untilMs = performance.now() + workMs;
    while (performance.now() < untilMs) {
      const round = await readRound();
      let isIdle = true;
      for (const { owner, row } of round) {
        turn += 1;
        lastTurns.set(owner, turn);
        const outcome = await work(row);
        if (outcome === 'elsewhere') return undefined;
        if (performance.now() >= untilMs) return workLeft;
        isIdle &&= outcome === 'nothing';
      }
      if (isIdle) return undefined;
    }
    return workLeft;
  };
};
