import { undoRoutes } from '@backlot/contract';
import type { Collection, Collections } from '../collections/collections.ts';
import { CollectionGone } from '../collections/collections.ts';
import { onCurrentSlots } from '../collections/current-slots.ts';
import { createRunBatch, withRest } from '../indexes/building/batches.ts';
import type { WorkInTurns } from '../indexes/building/glance.ts';
import { createTurns, type Turn } from '../indexes/building/turns.ts';
import type { Quota } from '../record/quota/quota.ts';
import { collectChanges } from './collect-changes.ts';
import { bringBack, bringBackRest, noteEnded } from './ended-in-job.ts';
import { isThereSql, jobKey, lockJob, ofJob, recordsOfJob, type UndoJob } from './job.ts';
import { type Plan, planRecords, type WaitingRecord } from './plan-records.ts';
import { undoRequestId } from './undo-jobs.ts';
import { createWriteBack, type WriteBackDeps, type WrittenBack } from './write-back.ts';

/** Of what is to be undone. */
export type UndoRunner = WorkInTurns;

export interface UndoRunnerDeps extends WriteBackDeps {
  collections: Pick<Collections, 'find' | 'refresh' | 'bringBack'>;
  quota: Pick<Quota, 'isFull'>;
}

type JobRow = Pick<UndoJob, 'project_id' | 'id'>;

interface NextCollection {
  /** Undefined where none waits. */
  collection?: Collection;
  /** Whether there was one that nobody finds any more: it is left out. */
  isGone: boolean;
}

/** Records of a transaction. */
const batchRows = 200;
/** How often what was refused is tried again, as long as something else was written meanwhile. */
const maxPasses = 20;
const firstPasses = 2;

const nextSql = `SELECT DISTINCT ON (project_id) project_id, id FROM undo_jobs
  WHERE state IN ('reading', 'writing') ORDER BY project_id, random()`;

const waitingSql = `SELECT record_id, first_seq, creates FROM undo_records
  WHERE ${recordsOfJob} AND coll_id = $3 AND state = 'waiting' ORDER BY record_id LIMIT $4`;

const isOfBatch = `${recordsOfJob} AND coll_id = $3 AND record_id = ANY ($4::uuid[])`;
const settleSql = `DELETE FROM undo_records WHERE ${isOfBatch}`;
const markSql = `UPDATE undo_records SET state = $5, reason = marked.reason FROM unnest($4::uuid[], $6::text[]) marked(record_id, reason)
  WHERE undo_records.project_id = $1 AND undo_records.undo_id = $2 AND undo_records.coll_id = $3 AND undo_records.record_id = marked.record_id`;

const countSql = `UPDATE undo_jobs SET created = created + $3, updated = updated + $4, deleted = deleted + $5,
    conflicts = conflicts + $6, has_written = has_written OR $7 WHERE ${ofJob}`;

const endSql = `UPDATE undo_jobs SET state = 'done', ended_at = $3, conflicts = conflicts + $4 WHERE ${ofJob}`;

const addConflictsSql = `UPDATE undo_jobs SET conflicts = conflicts + $3 WHERE ${ofJob}`;

const againSql = `UPDATE undo_records SET state = $3 WHERE ${recordsOfJob} AND state = 'again' RETURNING 1`;

const forgetSql = `DELETE FROM undo_records WHERE ${recordsOfJob} AND (coll_id, record_id) IN (
  SELECT coll_id, record_id FROM undo_records WHERE ${recordsOfJob} ORDER BY coll_id, record_id OFFSET ${undoRoutes.maxListedConflicts})`;

/**
 * Takes changes back: finds the records in the log, and writes each as it was, in batches. What is done stands in the
 * batch's transaction: a process that dies loses and repeats nothing.
 */
export const createUndoRunner = (deps: UndoRunnerDeps): UndoRunner => {
  const { database, collections, quota, now } = deps;
  const takeTurns = createTurns<JobRow>({ database, nextSql });
  const runBatch = createRunBatch(database, 'undo');
  const writeBack = createWriteBack(deps);

  /** Another process may have known another one by this name. */
  const findAs = async (projectNumber: number, name: string, id: number) => {
    const found = await collections.find(projectNumber, name);
    if (found?.id === id) return found;
    const current = await collections.refresh({ projectNumber, name });
    return current.id === id ? current : null;
  };

  /** The next collection with records that wait. */
  const findNext = async (row: JobRow): Promise<NextCollection> => {
    const [next] = await database.query<{ coll_id: number; name: string | null }>(
      `SELECT waiting.coll_id, name FROM (SELECT coll_id FROM undo_records WHERE ${recordsOfJob} AND state = 'waiting' ORDER BY coll_id LIMIT 1) waiting
         JOIN undo_jobs job ON job.project_id = $1 AND job.id = $2
         LEFT JOIN collections ON collections.project_id = $1 AND collections.coll_id = waiting.coll_id AND ${isThereSql}`,
      jobKey(row),
    );
    if (!next) return { isGone: false };
    const found = next.name === null ? null : await findAs(row.project_id, next.name, next.coll_id);
    if (found) return { collection: found, isGone: false };
    const gone = [...jobKey(row), next.coll_id];
    await database.query(`DELETE FROM undo_records WHERE ${recordsOfJob} AND coll_id = $3`, gone);
    return { isGone: true };
  };

  /** Where there is no room, nothing grows. */
  const withinQuota = async (job: UndoJob, plan: Plan, refused: Map<string, string>) => {
    if (plan.growthBytes === 0 && plan.create.length === 0) return plan;
    if (!(await quota.isFull(job.project_id))) return plan;
    for (const { id } of [...plan.create, ...plan.update]) refused.set(id, 'quota_reached');
    return {
      ...plan,
      create: [],
      update: [],
      delete: plan.delete.filter((id) => !refused.has(id)),
    };
  };

  const note = async (
    job: UndoJob,
    collection: Collection,
    looked: readonly string[],
    { conflicts, written }: { conflicts: ReadonlyMap<string, string>; written: WrittenBack },
  ) => {
    const key = [...jobKey(job), collection.id];
    const { refused, created, updated, deleted } = written;
    const settled = looked.filter((id) => !refused.has(id) && !conflicts.has(id));
    await database.query(settleSql, [...key, settled]);
    for (const [state, marked] of [
      ['again', refused],
      ['conflict', conflicts],
    ] as const)
      if (marked.size > 0)
        await database.query(markSql, [...key, [...marked.keys()], state, [...marked.values()]]);
    const hasWritten = created.length + updated.length + deleted.length > 0 && !job.is_dry_run;
    await database.query(countSql, [
      ...jobKey(job),
      created.length,
      updated.length,
      deleted.length,
      conflicts.size,
      hasWritten,
    ]);
  };

  const writeNext = async (job: UndoJob, collection: Collection): Promise<Turn> => {
    // First together, because values may be swapped; then one by one, so that one that is wrong keeps no other.
    const rows = job.pass % 3 === 2 ? 1 : batchRows;
    const key = [...jobKey(job), collection.id];
    const waiting = await database.query<WaitingRecord>(waitingSql, [...key, rows]);
    if (waiting.length === 0) return 'worked';
    const planned = await planRecords(database, job, collection, waiting);
    const looked = waiting.slice(0, planned.looked).map(({ record_id }) => record_id);
    const conflicts = new Map(planned.conflicts.map((id) => [id, 'changed']));
    const full = new Map<string, string>();
    const plan = await withinQuota(job, planned, full);
    const source = { actor: job.asked_by, requestId: undoRequestId(job.id) };
    const written = await writeBack(collection, plan, { source, isTried: job.is_dry_run });
    for (const [id, reason] of full) written.refused.set(id, reason);
    await note(job, collection, looked, { conflicts, written });
    return 'worked';
  };

  /** Where all was looked at: ends, or tries once more what was refused. */
  const endPass = async (job: UndoJob): Promise<Turn> => {
    const key = jobKey(job);
    const waits = `SELECT FROM undo_records WHERE ${recordsOfJob} AND state = 'waiting' LIMIT 1`;
    if ((await database.query(waits, key)).length > 0) return 'worked';
    const mayChange = job.has_written || job.pass < firstPasses;
    const isTriedAgain = !job.is_dry_run && job.pass < maxPasses && mayChange;
    const again = await database.query(againSql, [...key, isTriedAgain ? 'waiting' : 'conflict']);
    if (isTriedAgain && again.length > 0) {
      await database.query(
        `UPDATE undo_jobs SET pass = pass + 1, has_written = false WHERE ${ofJob}`,
        key,
      );
      return 'worked';
    }
    if (await bringBackRest(deps, job)) {
      await database.query(addConflictsSql, [...key, again.length]);
      return 'worked';
    }
    await database.query(endSql, [...key, new Date(now()), again.length]);
    await database.query(forgetSql, key);
    return 'worked';
  };

  /** Nothing comes back before all is read: it may be too much. */
  const readNext = async (job: UndoJob): Promise<void> => {
    if (job.ended === null)
      await noteEnded(database, job, await bringBack(deps, job, { isTried: true }));
    const state = await collectChanges(database, job, now());
    if (state === 'writing' && job.reread === null && !job.is_dry_run)
      await noteEnded(database, job, await bringBack(deps, job));
  };

  const workOn = async (row: JobRow, collection: Collection | undefined): Promise<Turn> => {
    const job = await lockJob(database, jobKey(row));
    if (!job) return 'nothing';
    if (job.state === 'reading') {
      await readNext(job);
      return 'worked';
    }
    return collection ? writeNext(job, collection) : endPass(job);
  };

  const takeTurn = async (row: JobRow): Promise<Turn> => {
    const { collection, isGone } = await findNext(row);
    if (isGone) return 'worked';
    if (!collection) return runBatch(() => workOn(row, undefined));
    return onCurrentSlots(collections.refresh, { collection }, (current) =>
      runBatch(() => workOn(row, current.collection)),
    );
  };

  return {
    nextSql,
    run: () =>
      takeTurns((row) =>
        withRest(() =>
          takeTurn(row).catch((error: unknown): Turn => {
            if (error instanceof CollectionGone) return 'waited';
            throw error;
          }),
        ),
      ),
  };
};
