import type { Database } from '@backlot/database';

/** A job as its batches see it. */
export interface UndoJob {
  project_id: number;
  id: string;
  state: 'reading' | 'writing';
  since: Date;
  actor: string | null;
  request_id: string | null;
  is_dry_run: boolean;
  asked_by: string | null;
  read_xid: string;
  read_seq: number;
  read_id: string;
  changes: number;
  pass: number;
  has_written: boolean;
  /** Null: it has not looked yet for collections that have ended. */
  ended: EndedInJob[] | null;
  /** Collections that came back last, of which alone the log is read; null: of all. */
  reread: number[] | null;
}

/** What an undo says of a collection that was deleted or emptied. */
export interface EndedInJob {
  id: number;
  collection: string;
  how: 'deleted' | 'emptied';
  records: number;
  at: string;
  /** The code of what refused it; null: it came back, or would. */
  reason: string | null;
}

/** Of the tables `collections` and `undo_jobs job`: that are there, or will be when the job is done. */
export const isThereSql =
  '(collections.deleted_at IS NULL OR collections.coll_id = ANY (job.restored))';

export const jobKey = ({ project_id, id }: Pick<UndoJob, 'project_id' | 'id'>) =>
  [project_id, id] as const;

export const ofJob = 'project_id = $1 AND id = $2';
export const recordsOfJob = 'project_id = $1 AND undo_id = $2';

/** Of those that are to be undone, in the tables `changes` and `undo_jobs job`; a NULL is none. */
export const matchesSql = `(job.snapshot IS NULL AND changes.changed_at >= job.since OR job.snapshot IS NOT NULL AND NOT pg_visible_in_snapshot(changes.xid, job.snapshot))
  AND pg_visible_in_snapshot(changes.xid, job.until)
  AND CASE WHEN job.actor IS NULL THEN changes.actor IS DISTINCT FROM 'platform'
    WHEN job.actor = 'visitor' THEN changes.actor IS NULL ELSE changes.actor = job.actor END
  AND (job.request_id IS NULL OR changes.request_id = job.request_id)`;

/** Of those that an earlier undo has written: what it left is what there should be. */
export const isUndoSql = `EXISTS (SELECT FROM undo_jobs other WHERE other.project_id = $1 AND 'undo:' || other.id = changes.request_id
    AND other.asked_by IS NOT DISTINCT FROM changes.actor)`;

/** The job, locked until the transaction ends; undefined where another process is at it. */
export const lockJob = async (
  database: Database,
  key: readonly unknown[],
): Promise<UndoJob | undefined> => {
  const [job] = await database.query<UndoJob>(
    `SELECT project_id, id, state, since, actor, request_id, is_dry_run, asked_by, read_xid::text, read_seq, read_id, changes, pass, has_written, ended, reread
     FROM undo_jobs WHERE ${ofJob} AND state IN ('reading', 'writing') FOR UPDATE SKIP LOCKED`,
    key,
  );
  return job;
};
