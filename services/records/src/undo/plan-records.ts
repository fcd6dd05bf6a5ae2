import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import { bringsBackSql } from '../record/change/log-sql.ts';
import { epochMsSql, inCollection, startParameters } from '../sql.ts';
import { isUndoSql, matchesSql, type UndoJob } from './job.ts';
import { findTarget, type RecordEvent, type Target } from './timeline.ts';

/** A record that a job looks at. */
export interface WaitingRecord {
  record_id: string;
  first_seq: number;
  creates: [seq: number, matches: boolean][];
}

/** What there was, and shall be. */
export interface FormerRecord {
  id: string;
  ownerId: string | null;
  groupId: string | null;
  /** JSON, as PostgreSQL writes it. */
  dataJson: string;
  sizeBytes: number;
}

export interface Plan {
  /** By how many bytes what is written is larger. */
  growthBytes: number;
  create: FormerRecord[];
  update: FormerRecord[];
  delete: string[];
  /** Ids of records that others have changed since. */
  conflicts: string[];
  /** The last version of each record that is there or was. */
  versions: ReadonlyMap<string, number>;
  /** How many of the records it is about. */
  looked: number;
}

/** Of what is written in a batch, and of the log that is read for it. */
const batchBytes = 4 * 1024 * 1024;
const maxEvents = 100_000;

interface EventRow extends Omit<RecordEvent, 'isUndo'> {
  record_id: string;
  is_undo: boolean;
  size: number;
  version: number;
}

interface TargetRow {
  record_id: string;
  is_there: boolean;
  is_same: boolean;
  is_same_place: boolean;
  size: number;
  data: string;
  owner_id: string | null;
  group_id: string | null;
}

const lockSql = `SELECT id, size_bytes AS size, ${epochMsSql('updated_at')} AS version FROM records
  WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id FOR UPDATE`;

const eventsSql = `SELECT changes.record_id, changes.seq, changes.kind, coalesce(${matchesSql}, false) AS matches, ${isUndoSql} AS is_undo,
    changes.old_size AS size, ${epochMsSql('changes.old_updated_at')} AS version
  FROM changes JOIN undo_records looked ON looked.project_id = $1 AND looked.undo_id = $4 AND looked.coll_id = $2 AND looked.record_id = changes.record_id
    JOIN undo_jobs job ON job.project_id = $1 AND job.id = $4
  WHERE changes.project_id = $1 AND changes.coll_id = $2 AND changes.record_id = ANY ($3::uuid[]) AND ${bringsBackSql('changes')}
    AND changes.seq >= looked.first_seq
  ORDER BY changes.record_id, changes.seq LIMIT ${maxEvents}`;

const targetsSql = `SELECT changes.record_id, records.id IS NOT NULL AS is_there,
    coalesce(records.data::text = old_data::text, false) AND old_owner IS NOT DISTINCT FROM owner_id AND old_group IS NOT DISTINCT FROM group_id AS is_same,
    old_owner IS NOT DISTINCT FROM owner_id AND old_group IS NOT DISTINCT FROM group_id AS is_same_place,
    old_size AS size, old_data::text AS data, old_owner AS owner_id, old_group AS group_id
  FROM unnest($3::uuid[], $4::int8[]) target(record_id, seq)
    JOIN changes ON changes.project_id = $1 AND changes.coll_id = $2 AND changes.record_id = target.record_id AND changes.seq = target.seq AND ${bringsBackSql('changes')}
    LEFT JOIN records ON records.project_id = $1 AND records.coll_id = $2 AND records.id = target.record_id`;

const toEvents = (rows: readonly EventRow[], { creates }: WaitingRecord): RecordEvent[] =>
  [
    ...rows.map(({ is_undo, ...event }) => ({ ...event, isUndo: is_undo })),
    ...creates.map(([seq, matches]) => ({ seq, kind: 'c' as const, matches, isUndo: !matches })),
  ].sort((a, b) => a.seq - b.seq);

/** As many of the first as fit, and one at least. */
const takeUpTo = (
  waiting: readonly WaitingRecord[],
  events: ReadonlyMap<string, readonly EventRow[]>,
  isCut: boolean,
): WaitingRecord[] => {
  let bytes = 0;
  // Where not all was read, it is of the last record that some is missing.
  const last = isCut ? [...events.keys()].at(-1) : undefined;
  const end = waiting.findIndex(({ record_id }, n) => {
    bytes += Math.max(0, ...(events.get(record_id) ?? []).map(({ size }) => size));
    return n > 0 && (bytes > batchBytes || record_id === last);
  });
  return waiting.slice(0, end === -1 ? waiting.length : end);
};

/** Locks records and finds out what is to become of them. @param waiting by their ids */
export const planRecords = async (
  database: Database,
  job: UndoJob,
  collection: Collection,
  waiting: readonly WaitingRecord[],
): Promise<Plan> => {
  const ids = waiting.map(({ record_id }) => record_id);
  const { values } = startParameters(collection, ids);
  const locked = await database.query<{ id: string; size: number; version: number }>(
    lockSql,
    values,
  );
  const there = new Map(locked.map((row) => [row.id, row]));
  const rows = await database.query<EventRow>(eventsSql, [...values, job.id]);
  const events = Map.groupBy(rows, ({ record_id }) => record_id);
  const taken = takeUpTo(waiting, events, rows.length === maxEvents);
  const plan: Plan & { versions: Map<string, number> } = {
    growthBytes: 0,
    create: [],
    update: [],
    delete: [],
    conflicts: [],
    versions: new Map(),
    looked: taken.length,
  };
  const targets = new Map<string, Target>();
  for (const record of taken) {
    const id = record.record_id;
    const own = events.get(id) ?? [];
    const version = Math.max(0, there.get(id)?.version ?? 0, ...own.map((row) => row.version));
    plan.versions.set(id, version);
    const target = findTarget(toEvents(own, record), there.has(id));
    if (!target) continue;
    if (!target.isAbsent) targets.set(id, target);
    else if (!there.has(id)) continue;
    else if (target.isConflict) plan.conflicts.push(id);
    else plan.delete.push(id);
  }
  const former = await database.query<TargetRow>(targetsSql, [
    ...startParameters(collection, [...targets.keys()]).values,
    [...targets.values()].map(({ seq }) => seq),
  ]);
  for (const row of former) {
    const id = row.record_id;
    if (row.is_there && row.is_same) continue;
    if (targets.get(id)?.isConflict) {
      plan.conflicts.push(id);
      continue;
    }
    const { data: dataJson, size: sizeBytes, owner_id: ownerId, group_id: groupId } = row;
    const record = { id, dataJson, sizeBytes, ownerId, groupId };
    plan.growthBytes += Math.max(0, sizeBytes - (there.get(id)?.size ?? 0));
    if (row.is_there && row.is_same_place) plan.update.push(record);
    else plan.create.push(record);
    // Under its id somebody else has made another one.
    if (row.is_there && !row.is_same_place) plan.delete.push(id);
  }
  return plan;
};
