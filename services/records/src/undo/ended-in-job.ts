import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Collections } from '../collections/collections.ts';
import {
  type KeptCollection,
  keptColumns,
  keptFromSql,
} from '../collections/table/kept-collections.ts';
import { isoTimeSql } from '../sql.ts';
import { type EndedInJob, jobKey, ofJob, type UndoJob } from './job.ts';

/** Of `ended_collections ended` and `undo_jobs job`: what the job has to take back. */
export const endedInJobSql = `ended.ended_at >= job.since AND ended.ended_at <= job.started_at
  AND (job.actor IS NULL OR ended.actor = job.actor) AND (job.request_id IS NULL OR ended.request_id = job.request_id)`;
export const howSql = `CASE WHEN ended.is_emptied THEN 'emptied' ELSE 'deleted' END AS how`;

type Row = KeptCollection & Omit<EndedInJob, 'collection' | 'reason'>;

/** One that was made since by anybody is none of what there was. */
const keptSql = `SELECT ${keptColumns}, ${howSql}, ended.records, ${isoTimeSql('ended.ended_at')} AS at
  FROM ${keptFromSql} JOIN undo_jobs job ON job.project_id = $1 AND job.id = $2
  WHERE ended.project_id = $1 AND ${endedInJobSql} AND (job.coll_ids IS NULL OR ended.coll_id = ANY (job.coll_ids))
    AND (job.actor IS NOT NULL OR job.request_id IS NOT NULL OR collections.created_at <= job.since)
  ORDER BY ended.ended_at, ended.coll_id`;

interface BringBackDeps {
  database: Database;
  collections: Pick<Collections, 'bringBack'>;
}

/**
 * Brings collections back that the job has to take back, in the surrounding transaction: of several of a name the one
 * that there was first. @param isTried only says which could @param before names of those that came back earlier
 */
export const bringBack = async (
  { database, collections }: BringBackDeps,
  job: UndoJob,
  { isTried = false, before = [] }: { isTried?: boolean; before?: readonly string[] } = {},
): Promise<EndedInJob[]> => {
  const rows = await database.query<Row>(keptSql, jobKey(job));
  const isOfAll = job.actor === null && job.request_id === null;
  const names = new Set(before);
  const ended: EndedInJob[] = [];
  for (const { how, records, at, ...kept } of rows) {
    const { id, name } = kept;
    const isSecond = names.has(name);
    // What was made behind it, it had not.
    if (isSecond && isOfAll) continue;
    const said = { id, collection: name, how, records, at };
    try {
      if (isSecond) throw new ApiError('conflict', 'Another one of the name comes back.');
      await collections.bringBack(job.project_id, kept, isTried);
      ended.push({ ...said, reason: null });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      ended.push({ ...said, reason: error.code });
    }
    names.add(name);
  }
  return ended;
};

const cameBack = (ended: readonly EndedInJob[]) =>
  ended.filter(({ reason }) => reason === null).map(({ id }) => id);

/** What came back, or would, is read like what was never gone. */
export const noteEnded = (database: Database, job: UndoJob, ended: readonly EndedInJob[]) =>
  database.query(`UPDATE undo_jobs SET restored = $3, ended = $4 WHERE ${ofJob}`, [
    ...jobKey(job),
    cameBack(ended),
    JSON.stringify(ended),
  ]);

/**
 * Tries once more what had no name before the job has deleted what others have made since. @returns whether the log is
 * to be read for what came back
 */
export const bringBackRest = async (deps: BringBackDeps, job: UndoJob): Promise<boolean> => {
  const { database } = deps;
  const left = (job.ended ?? []).filter(({ reason }) => reason === 'conflict');
  if (job.is_dry_run || job.reread !== null || left.length === 0) return false;
  const isBack = ({ reason }: EndedInJob) => reason === null;
  const before = (job.ended ?? []).filter(isBack).map(({ collection }) => collection);
  const tried = await bringBack(deps, job, { before });
  const ids = cameBack(tried);
  const ended = (job.ended ?? []).map((one) => tried.find(({ id }) => id === one.id) ?? one);
  await database.query(
    `UPDATE undo_jobs SET reread = $3, restored = restored || $3, ended = $4 WHERE ${ofJob}`,
    [...jobKey(job), ids, JSON.stringify(ended)],
  );
  if (ids.length === 0) return false;
  await database.query(
    `UPDATE undo_jobs SET state = 'reading', pass = 0, read_xid = '0', read_seq = -1, read_id = '00000000-0000-0000-0000-000000000000' WHERE ${ofJob}`,
    jobKey(job),
  );
  return true;
};
