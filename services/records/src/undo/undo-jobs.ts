import { randomUUID } from 'node:crypto';
import { ApiError, isUuid, type Undo, type UndoRequest, undoRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { noteAct } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Collections } from '../collections/collections.ts';
import { findKept } from '../collections/table/kept-collections.ts';
import { isKeptSql } from '../collections/table/removal.ts';
import { toSource } from '../source.ts';
import { epochMsSql, isoTimeSql } from '../sql.ts';
import { toIso } from '../timestamps.ts';
import { endedInJobSql, howSql } from './ended-in-job.ts';
import type { EndedInJob } from './job.ts';
import type { LogReach } from './log-reach.ts';
import { noRestorePoint } from './restore-points.ts';

export interface UndoJobs {
  /**
   * Begins to take back what was changed. One at a time in a project.
   * @returns its id @throws ApiError not_found, invalid_body, conflict
   */
  start(identity: Identity, request: UndoRequest): Promise<string>;
  /** @throws ApiError not_found */
  read(projectNumber: number, id: string): Promise<Undo>;
}

export interface UndoJobsDeps {
  database: Database;
  collections: Pick<Collections, 'find'>;
  reach: LogReach;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Of a project: older ones are forgotten. */
const keptJobs = 20;
/** One that has not ended by then keeps no other from beginning. */
const longestMs = 60 * 60_000;
const { maxListedConflicts, maxUndoneChanges } = undoRoutes;

/** What the log says of changes that an undo has written. */
export const undoRequestId = (id: string): string => `undo:${id}`;

const isRunning = `state IN ('reading', 'writing')`;
const ofJob = 'undo_jobs.project_id = $1 AND undo_jobs.id = $2';

const whyFailed = ({ changes }: Pick<Undo, 'changes'>): string =>
  changes > maxUndoneChanges
    ? `More than ${maxUndoneChanges} changes: name a later time, an actor or collections. Nothing was changed.`
    : 'It has not ended within an hour; what it had written by then stays.';

const noUndo = () => new ApiError('not_found', 'There is no such undo.');

const insertSql = `INSERT INTO undo_jobs (project_id, id, state, since, restore_point, snapshot, actor, request_id, coll_ids, is_dry_run, asked_by, started_at)
  SELECT $1::int8, $2::uuid, 'reading', $3::timestamptz, $4::text, (SELECT snapshot FROM restore_points WHERE restore_points.project_id = $1 AND name = $4),
    $5::text, $6::text, $7::int4[], $8::boolean, $9::text, $10::timestamptz`;

const readSql = `SELECT id, CASE WHEN ${isRunning} THEN 'running' ELSE state END AS state, is_dry_run AS "dryRun", ${isoTimeSql('since')} AS since,
    changes, created, updated, deleted, conflicts AS "conflictCount", ended, ${isoTimeSql('started_at')} AS "startedAt", ${isoTimeSql('ended_at')} AS "endedAt"
  FROM undo_jobs WHERE ${ofJob}`;

const conflictsSql = `SELECT coalesce((SELECT ended.name FROM ended_collections ended WHERE ended.project_id = $1 AND ended.coll_id = undo_records.coll_id
      AND ended.kept_until = collections.deleted_at), collections.name) AS collection, record_id AS id, coalesce(reason, 'changed') AS reason
  FROM undo_records JOIN collections ON collections.project_id = $1 AND collections.coll_id = undo_records.coll_id
  WHERE undo_records.project_id = $1 AND undo_id = $2 AND state = 'conflict' ORDER BY undo_records.coll_id, record_id LIMIT ${maxListedConflicts}`;

/** What can come back no more; of collections that it is about by their names. */
const erasedSql = `SELECT ended.name AS collection, ${howSql}, ended.records, ${isoTimeSql('ended.ended_at')} AS at, 'erased' AS reason
  FROM ended_collections ended JOIN undo_jobs job ON job.project_id = $1 AND job.id = $2
  WHERE ended.project_id = $1 AND ${endedInJobSql} AND ended.records > 0 AND ended.restored_at IS NULL
    AND NOT EXISTS (SELECT FROM collections kept WHERE kept.project_id = $1 AND kept.coll_id = ended.coll_id AND kept.deleted_at = ended.kept_until AND kept.${isKeptSql})
    AND (job.coll_ids IS NULL OR EXISTS (SELECT FROM collections own WHERE own.project_id = $1 AND own.coll_id = ANY (job.coll_ids) AND own.name = ended.name))
  ORDER BY ended.ended_at DESC LIMIT 100`;

type JobRow = Omit<Undo, 'conflicts' | 'collections' | 'notUndone'> & {
  ended: EndedInJob[] | null;
};

const presentEnded = (
  ended: readonly EndedInJob[] | null,
  erased: Undo['notUndone'],
): Pick<Undo, 'collections' | 'notUndone'> => {
  const collections: Undo['collections'] = [];
  const notUndone = [...erased];
  for (const { id: _, reason, ...one } of ended ?? [])
    if (reason === null) collections.push(one);
    else notUndone.push({ ...one, reason });
  return { collections, notUndone };
};

export const createUndoJobs = ({ database, collections, reach, now }: UndoJobsDeps): UndoJobs => {
  const findCollections = async ({ number }: Identity['project'], names: readonly string[]) => {
    const ids: number[] = [];
    for (const name of names) {
      const found = await collections.find(number, name);
      const kept = await findKept(database, number, name);
      ids.push(...kept.map(({ id }) => id));
      if (!found && kept.length > 0) continue;
      if (!found)
        throw new ApiError('not_found', `There is no collection ${JSON.stringify(name)}.`, {
          hint: 'GET …/trash/collections lists deleted ones that can come back.',
        });
      if (found.hasHistory === false)
        throw new ApiError(
          'conflict',
          `No changes are kept of the collection ${JSON.stringify(name)}.`,
        );
      ids.push(found.id);
    }
    return ids;
  };

  const findSince = async (projectNumber: number, { since, restorePoint }: UndoRequest) => {
    if (since !== undefined) return Date.parse(since);
    const [point] = await database.query<{ ms: number }>(
      `SELECT ${epochMsSql('created_at')} AS ms FROM restore_points WHERE project_id = $1 AND name = $2`,
      [projectNumber, restorePoint],
    );
    if (!point) throw noRestorePoint();
    return point.ms;
  };

  const insert = async (projectNumber: number, id: string, values: readonly unknown[]) => {
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('undo', $1))`, [
      projectNumber,
    ]);
    await database.query(
      `UPDATE undo_jobs SET state = 'failed', ended_at = $2 WHERE project_id = $1 AND ${isRunning} AND started_at < $3`,
      [projectNumber, new Date(now()), new Date(now() - longestMs)],
    );
    const [running] = await database.query<{ id: string }>(
      `SELECT id FROM undo_jobs WHERE project_id = $1 AND ${isRunning} LIMIT 1`,
      [projectNumber],
    );
    if (running)
      throw new ApiError('conflict', 'An undo of this project is running.', {
        hint: `GET …/undo/${running.id} says how far it has come.`,
      });
    await database.query(insertSql, [projectNumber, id, ...values]);
    const [job] = await database.query<{ until: string }>(
      `SELECT records.log_snapshot(started_at)::text AS until FROM undo_jobs WHERE ${ofJob}`,
      [projectNumber, id],
    );
    await database.query(
      `UPDATE undo_jobs SET until = $3::pg_snapshot WHERE project_id = $1 AND id = $2`,
      [projectNumber, id, job?.until],
    );
    const old = await database.query<{ id: string }>(
      `SELECT id FROM undo_jobs WHERE project_id = $1 ORDER BY started_at DESC, id OFFSET ${keptJobs} LIMIT 100`,
      [projectNumber],
    );
    const ids = old.map((job) => job.id);
    for (const [table, column] of [
      ['undo_records', 'undo_id'],
      ['undo_jobs', 'id'],
    ])
      await database.query(
        `DELETE FROM ${table} WHERE project_id = $1 AND ${column} = ANY ($2::uuid[])`,
        [projectNumber, ids],
      );
  };

  return {
    async start(identity, request) {
      const { project } = identity;
      const { restorePoint = null, actor = null, requestId = null, dryRun = false } = request;
      const ids = request.collections && (await findCollections(project, request.collections));
      const sinceMs = await findSince(project.number, request);
      await reach.check(project.number, sinceMs, 'since');
      const id = randomUUID();
      const askedBy = toSource(identity, undefined).actor;
      const since = toIso(sinceMs);
      await database.transaction(async () => {
        await insert(project.number, id, [
          since,
          restorePoint,
          actor,
          requestId,
          ids ?? null,
          dryRun,
          askedBy,
          new Date(now()),
        ]);
        await noteAct({ after: { undo: id, since, restorePoint, actor, requestId } });
      });
      return id;
    },

    async read(projectNumber, id) {
      if (!isUuid(id)) throw noUndo();
      const key = [projectNumber, id];
      const [job] = await database.query<JobRow>(readSql, key);
      if (!job) throw noUndo();
      const conflicts =
        job.conflictCount > 0
          ? await database.query<Undo['conflicts'][number]>(conflictsSql, key)
          : [];
      const erased = await database.query<Undo['notUndone'][number]>(erasedSql, key);
      const { ended, ...shown } = job;
      const error = job.state === 'failed' && { error: whyFailed(job) };
      const isShown = job.state === 'done' || (error && job.changes <= maxUndoneChanges);
      return { ...shown, conflicts, ...presentEnded(isShown ? ended : null, erased), ...error };
    },
  };
};
