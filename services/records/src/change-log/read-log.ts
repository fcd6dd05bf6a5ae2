import type { Database } from '@backlot/database';
import { epochMsSql } from '../sql.ts';
import { beforeTransaction, type LogPosition } from './position.ts';

/** A record at some time, with all of its document. */
export interface LoggedRecord {
  ownerId: string | null;
  groupId: string | null;
  /** Epoch milliseconds. */
  updatedAt: number;
  /** JSON. */
  data: string;
}

export interface LogEntry {
  position: LogPosition;
  collectionId: number;
  recordId: string;
  /** Of a share: others have one of it now, or no more. */
  kind: 'create' | 'update' | 'delete' | 'share';
  /** Epoch milliseconds. */
  changedAt: number;
  /** `Source` says what it may be. */
  actor: string | null;
  requestId: string | null;
  /** What there was; null before a create, and where shares have begun. */
  before: LoggedRecord | null;
  /** Who had a share of a deleted record, or whose shares have begun or ended. */
  sharedWith: readonly string[];
  /** What there is now, which later entries may have changed; null where there is none. */
  now: LoggedRecord | null;
}

export interface LogPage {
  entries: LogEntry[];
  /** Of which there were entries that were not asked for. */
  otherCollectionIds: number[];
  /** Behind what was read, also where that was nothing. */
  end: LogPosition;
  hasMore: boolean;
  /** Whether entries behind `after` are gone, or it is of another server: who reads has to begin anew. */
  isGone: boolean;
  /** Whether all that was written when it was read is in it or before it, unless `hasMore`. */
  isSettled: boolean;
}

interface EntryRow {
  /** Of the oldest transaction under way. */
  horizon: string;
  is_gone: boolean;
  /** How many were looked at, at most as many as were asked for. */
  found: number;
  /** Whether it is of one of the collections that were asked for. */
  is_asked: boolean;
  /** Whether a transaction under way may still write some. */
  is_settled: boolean;
  /** Null where there is no entry. */
  xid: string | null;
  seq: number;
  record_id: string;
  coll_id: number;
  kind: 'c' | 'u' | 'd' | 's';
  changed_ms: number;
  actor: string | null;
  request_id: string | null;
  old_data: string | null;
  old_owner: string | null;
  old_group: string | null;
  old_ms: number;
  old_shares: string[] | null;
  data: string | null;
  owner_id: string | null;
  group_id: string | null;
  updated_ms: number;
}

/** Of one page, as JSON. */
const pageBytes = 8 * 1024 * 1024;

/** Entries of a project behind a place, without those of transactions that could still get earlier ones. */
const pageSql = `
  SELECT horizon.xid::text AS horizon, is_gone, is_settled, coalesce(found, 0)::int AS found, is_asked, page.xid::text, seq, page.record_id, page.coll_id, kind, ${epochMsSql('changed_at')} AS changed_ms,
    actor, request_id, CASE WHEN is_asked THEN old_data::text END AS old_data, old_owner, old_group, ${epochMsSql('old_updated_at')} AS old_ms, old_shares,
    data::text, owner_id, group_id, ${epochMsSql('updated_at')} AS updated_ms
  FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid, pg_snapshot_xmin(pg_current_snapshot()) = pg_snapshot_xmax(pg_current_snapshot()) AS is_settled,
      (pg_snapshot_xmax(pg_current_snapshot()) < $2::xid8
      OR EXISTS (SELECT FROM change_floors WHERE change_floors.project_id = $1 AND change_floors.xid > $2::xid8)) AS is_gone) horizon LEFT JOIN LATERAL (
    SELECT found.*, sum(bytes) OVER (ORDER BY xid, seq, record_id) - bytes AS bytes_before, count(*) OVER () AS found FROM (
      SELECT looked.*, data, owner_id, group_id, updated_at, CASE WHEN is_asked THEN old_size + coalesce(size_bytes, 0) ELSE 0 END AS bytes
      FROM (SELECT changes.*, ($5::int[] IS NULL OR changes.coll_id = ANY ($5)) AS is_asked FROM changes
        WHERE changes.project_id = $1 AND xid >= $2::xid8 AND (xid, seq, record_id) > ($2::xid8, $3::int8, $4::uuid) AND xid < horizon.xid
        ORDER BY xid, seq, record_id LIMIT $6) looked
      LEFT JOIN records ON is_asked AND records.project_id = $1 AND records.coll_id = looked.coll_id AND records.id = looked.record_id) found
    ) page ON bytes_before < ${pageBytes}
  ORDER BY page.xid, seq, page.record_id`;

const kinds = { c: 'create', u: 'update', d: 'delete', s: 'share' } as const;

const toEntry = (row: EntryRow, xid: string): LogEntry => ({
  position: { xid, seq: row.seq, recordId: row.record_id },
  collectionId: row.coll_id,
  recordId: row.record_id,
  kind: kinds[row.kind],
  changedAt: row.changed_ms,
  actor: row.actor,
  requestId: row.request_id,
  before:
    row.old_data === null
      ? null
      : {
          ownerId: row.old_owner,
          groupId: row.old_group,
          updatedAt: row.old_ms,
          data: row.old_data,
        },
  sharedWith: row.old_shares ?? [],
  now:
    row.data === null
      ? null
      : {
          ownerId: row.owner_id,
          groupId: row.group_id,
          updatedAt: row.updated_ms,
          data: row.data,
        },
});

export interface LogReading {
  projectNumber: number;
  after: LogPosition;
  /** Those of which entries are read. Default all. */
  collectionIds?: readonly number[];
  /** Entries that are looked at, at most; fewer where records are large. */
  limit: number;
}

/**
 * The next entries in an order in which none is ever put before one that was read. Changes of one record may stand the
 * other way round: what there is `now` is true of each.
 */
export const readLog = async (
  database: Database,
  { projectNumber, after, collectionIds, limit }: LogReading,
): Promise<LogPage> => {
  const rows = await database.query<EntryRow>(pageSql, [
    projectNumber,
    after.xid,
    after.seq,
    after.recordId,
    collectionIds ?? null,
    limit,
  ]);
  const looked = rows.flatMap((row) => (row.xid === null ? [] : [{ ...row, xid: row.xid }]));
  const { horizon = after.xid, found = 0, is_gone = false, is_settled = false } = rows[0] ?? {};
  const last = looked.at(-1);
  const isCut = last !== undefined && (found === limit || looked.length < found);
  const atHorizon = BigInt(horizon) > BigInt(after.xid) ? beforeTransaction(horizon) : after;
  return {
    entries: looked.filter((row) => row.is_asked).map((row) => toEntry(row, row.xid)),
    otherCollectionIds: [
      ...new Set(looked.filter((row) => !row.is_asked).map((row) => row.coll_id)),
    ],
    end: isCut ? { xid: last.xid, seq: last.seq, recordId: last.record_id } : atHorizon,
    hasMore: isCut,
    isGone: is_gone,
    isSettled: is_settled,
  };
};

/** Where a reader begins who hears of all that is written from now on. */
export const readLogEnd = async (database: Database, projectNumber: number): Promise<LogPosition> =>
  (await readLog(database, { projectNumber, after: beforeTransaction('0'), limit: 0 })).end;
