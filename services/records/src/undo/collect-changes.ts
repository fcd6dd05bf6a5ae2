import { undoRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { dayMs, logSlot, logSlots } from '../record/change/log-sql.ts';
import { epochMsSql } from '../sql.ts';
import {
  isThereSql,
  isUndoSql,
  jobKey,
  matchesSql,
  ofJob,
  recordsOfJob,
  type UndoJob,
} from './job.ts';

const pageRows = 5000;

interface Row {
  xid: string;
  seq: number;
  record_id: string;
  coll_id: number;
  kind: 'c' | 'u' | 'd' | 's';
  changed_ms: number;
  matches: boolean | null;
  is_undo: boolean | null;
}

/** Entries of collections that are there still or come back, and of which changes are kept. */
const pageSql = `SELECT page.xid::text, page.seq, page.record_id, page.coll_id, kind, ${epochMsSql('changed_at')} AS changed_ms, matches, is_undo FROM (
    SELECT changes.xid, changes.seq, changes.record_id, changes.coll_id, changes.kind, changes.changed_at,
      ${matchesSql} AS matches, ${isUndoSql} AS is_undo
    FROM changes JOIN undo_jobs job ON job.project_id = $1 AND job.id = $2
    WHERE changes.project_id = $1 AND changes.slot = ANY ($3::int2[]) AND changes.xid >= $4::xid8
      AND (changes.xid, changes.seq, changes.record_id) > ($4::xid8, $5::int8, $6::uuid)
    ORDER BY changes.xid, changes.seq, changes.record_id LIMIT ${pageRows}) page`;

const ownedSql = `SELECT collections.coll_id, ${epochMsSql('collections.created_at')} AS ms
  FROM collections JOIN undo_jobs job ON job.project_id = $1 AND job.id = $2
  WHERE collections.project_id = $1 AND ${isThereSql} AND history AND collections.coll_id = ANY ($3::int4[])
    AND (job.coll_ids IS NULL OR collections.coll_id = ANY (job.coll_ids))
    AND (job.reread IS NULL OR collections.coll_id = ANY (job.reread))`;

const insertSql = `INSERT INTO undo_records (project_id, undo_id, coll_id, record_id, first_seq, creates, state)
  SELECT $1::int8, $2::uuid, found.coll_id, found.record_id, found.first_seq, found.creates, 'waiting'
  FROM unnest($3::int4[], $4::uuid[], $5::int8[], $6::jsonb[]) found(coll_id, record_id, first_seq, creates)
  ON CONFLICT (project_id, undo_id, coll_id, record_id) DO UPDATE
    SET first_seq = least(undo_records.first_seq, excluded.first_seq), creates = undo_records.creates || excluded.creates`;

/** What is known of creates by an undo, of records that are to be looked at. */
const addCreatesSql = `UPDATE undo_records SET creates = undo_records.creates || found.creates
  FROM unnest($3::int4[], $4::uuid[], $5::jsonb[]) found(coll_id, record_id, creates)
  WHERE undo_records.project_id = $1 AND undo_records.undo_id = $2 AND undo_records.coll_id = found.coll_id
    AND undo_records.record_id = found.record_id`;

/** Days whose tables may have entries of the job. */
const slotsSince = (sinceMs: number, nowMs: number): number[] => {
  const slots = new Set<number>();
  for (let ms = sinceMs - dayMs; ms < nowMs + 2 * dayMs && slots.size < logSlots; ms += dayMs)
    slots.add(logSlot(ms));
  return [...slots];
};

const groupRecords = (rows: readonly Row[]) =>
  [...Map.groupBy(rows, (row) => `${row.coll_id} ${row.record_id}`).values()].map((those) => {
    const [{ coll_id, record_id } = { coll_id: 0, record_id: '' }] = those;
    const creates = those.filter(({ kind }) => kind === 'c');
    return {
      coll_id,
      record_id,
      firstSeq: Math.min(...those.map(({ seq }) => seq)),
      creates: JSON.stringify(creates.map(({ seq, matches }) => [seq, matches === true])),
    };
  });

/**
 * Reads some more of the log, and notes the records that the job is about.
 * @returns what it does then
 */
export const collectChanges = async (
  database: Database,
  job: UndoJob,
  nowMs: number,
): Promise<'reading' | 'writing' | 'failed'> => {
  const key = jobKey(job);
  const slots = slotsSince(job.since.getTime(), nowMs);
  const rows = await database.query<Row>(pageSql, [
    ...key,
    slots,
    job.read_xid,
    job.read_seq,
    job.read_id,
  ]);
  const numbers = [...new Set(rows.map(({ coll_id }) => coll_id))];
  const owned = await database.query<{ coll_id: number; ms: number }>(ownedSql, [...key, numbers]);
  const createdMs = new Map(owned.map(({ coll_id, ms }) => [coll_id, ms]));
  const known = rows.filter(
    ({ coll_id, changed_ms, kind }) =>
      kind !== 's' && changed_ms >= (createdMs.get(coll_id) ?? Number.POSITIVE_INFINITY),
  );
  const matching = known.filter(({ matches }) => matches);
  const found = groupRecords(matching);
  await database.query(insertSql, [
    ...key,
    found.map(({ coll_id }) => coll_id),
    found.map(({ record_id }) => record_id),
    found.map(({ firstSeq }) => firstSeq),
    found.map(({ creates }) => creates),
  ]);
  const undone = groupRecords(
    known.filter(({ matches, is_undo, kind }) => !matches && is_undo && kind === 'c'),
  );
  await database.query(addCreatesSql, [
    ...key,
    undone.map(({ coll_id }) => coll_id),
    undone.map(({ record_id }) => record_id),
    undone.map(({ creates }) => creates),
  ]);
  const changes = job.changes + matching.length;
  const isTooMuch = job.reread === null && changes > undoRoutes.maxUndoneChanges;
  const last = rows.at(-1);
  const isOver = rows.length < pageRows;
  const state = isTooMuch ? 'failed' : isOver ? 'writing' : 'reading';
  await database.query(
    `UPDATE undo_jobs SET state = $3, changes = $4, read_xid = coalesce($5::xid8, read_xid), read_seq = coalesce($6, read_seq),
       read_id = coalesce($7, read_id), ended_at = $8 WHERE ${ofJob}`,
    [
      ...key,
      state,
      changes,
      last?.xid ?? null,
      last?.seq ?? null,
      last?.record_id ?? null,
      isTooMuch ? new Date(nowMs) : null,
    ],
  );
  if (isTooMuch) await database.query(`DELETE FROM undo_records WHERE ${recordsOfJob}`, key);
  return state;
};
