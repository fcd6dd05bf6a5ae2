import type { Database } from '@backlot/database';
import { readAcrossProjects } from '../across-projects.ts';
import { dayMs, logSlot, logSlots } from '../record/change/log-sql.ts';
import { eraseLogBefore } from './erase-log.ts';

/** How much of the log is kept. */
export interface LogLimits {
  days: number;
  /** Of a project, as JSON. */
  bytes: number;
}

/** What an entry takes beside a document, about. */
const entryBytes = 200;
/** Projects that are looked after in one sweep. */
const projectsAtOnce = 1000;

const hasRowsSql = (slot: number) => `SELECT project_id FROM changes WHERE slot = ${slot} LIMIT 1`;

/** Tables of days that are over are emptied before their turn comes again. */
const emptySlots = async (database: Database, days: number, nowMs: number): Promise<void> => {
  const kept = new Set<number>();
  for (let day = -1; day <= days; day++) kept.add(logSlot(nowMs - day * dayMs));
  for (let slot = 0; slot < logSlots; slot++) {
    if (kept.has(slot)) continue;
    const [row] = await readAcrossProjects(database, hasRowsSql(slot));
    if (row) await database.query('SELECT records.empty_changes($1)', [slot]);
  }
};

/** The transaction behind the newest entries that fit. */
const findFloor = async (database: Database, projectNumber: number, bytes: number) => {
  const [row] = await database.query<{ xid: string | null }>(
    `SELECT min(xid)::text AS xid FROM (
       SELECT xid, sum(old_size + ${entryBytes}) OVER (ORDER BY xid DESC) AS newer FROM changes WHERE project_id = $1) entries
     WHERE newer <= $2`,
    [projectNumber, bytes],
  );
  return row?.xid ?? undefined;
};

/** Keeps the log within its days. */
export const keepLogDays = (database: Database, { days }: LogLimits, now: () => number) =>
  emptySlots(database, days, now());

/** Keeps the log of each project within its bytes. */
export const keepLogBytes = async (database: Database, { bytes }: LogLimits): Promise<void> => {
  const large = await readAcrossProjects<{ project: number }>(
    database,
    `SELECT project_id AS project FROM changes GROUP BY 1 HAVING sum(old_size + ${entryBytes}) > $1 LIMIT ${projectsAtOnce}`,
    [bytes],
  );
  for (const { project } of large) {
    // Half as much again is gone, so that it is not looked for every hour.
    const floor = await findFloor(database, project, bytes * 0.75);
    if (floor !== undefined) await eraseLogBefore(database, project, floor);
  }
};

/**
 * Empties the log where this is not the server that has written it: transactions count anew where a backup was read,
 * and its entries would seem to lie ahead.
 */
export const beginLog = async (database: Database): Promise<void> => {
  const [clock] = await database.query<{ is_other: boolean }>(
    `SELECT xid > pg_snapshot_xmax(pg_current_snapshot()) AS is_other FROM log_clock`,
  );
  if (clock?.is_other) {
    for (let slot = 0; slot < logSlots; slot++)
      await database.query('SELECT records.empty_changes($1)', [slot]);
    await readAcrossProjects(database, 'DELETE FROM restore_points');
    // What is told from now on stands behind the first number of this server.
    const toBegin = `xid = '0', seq = -1, record_id = '00000000-0000-0000-0000-000000000000'`;
    await readAcrossProjects(database, `UPDATE told_projects SET ${toBegin}`);
    const isRunning = `state IN ('reading', 'writing')`;
    await readAcrossProjects(
      database,
      `UPDATE undo_jobs SET state = 'failed', ended_at = now() WHERE ${isRunning}`,
    );
  }
  await database.query(
    `INSERT INTO log_clock (xid) VALUES (pg_current_xact_id()) ON CONFLICT (is_only) DO UPDATE
       SET xid = excluded.xid, emptied_at = CASE WHEN $1 THEN now() ELSE log_clock.emptied_at END`,
    [clock?.is_other === true],
  );
};
