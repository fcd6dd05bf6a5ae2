import type { Payload } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { beforeTransaction } from '../change-log/position.ts';

export type Wants = Payload<'webhooks.changed'>['wants'];

/** Of the newest entries, those that may be from after a webhook was made and before this was heard. */
const newestEntries = 1000;

/** The first place that may have something that is wanted since a time. */
const placeSql = `SELECT least(horizon.xid, found.xid)::text AS xid
  FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid) horizon LEFT JOIN LATERAL (
    SELECT min(newest.xid) AS xid FROM (
      SELECT changes.xid, changed_at FROM changes WHERE changes.project_id = $1
      ORDER BY changes.xid DESC LIMIT ${newestEntries}) newest
    WHERE changed_at >= $2::timestamptz) found ON true`;

/** Keeps what webhooks want; of several events the newest holds, in whatever order they come. */
export const createTakeWants =
  (database: Database) =>
  async ({ projectNumber, version, wants }: Payload<'webhooks.changed'>): Promise<void> => {
    const since = wants.map((want) => want.since).sort()[0] ?? new Date(0).toISOString();
    const [place] = await database.query<{ xid: string }>(placeSql, [projectNumber, since]);
    const { xid, seq, recordId } = beforeTransaction(place?.xid ?? '0');
    await database.query(
      `INSERT INTO told_projects AS told (project_id, version, wants, xid, seq, record_id)
       VALUES ($1, $2, $3, $4::xid8, $5, $6)
       ON CONFLICT (project_id) DO UPDATE SET version = excluded.version, wants = excluded.wants,
         xid = CASE WHEN told.is_told THEN told.xid ELSE excluded.xid END,
         seq = CASE WHEN told.is_told THEN told.seq ELSE excluded.seq END,
         record_id = CASE WHEN told.is_told THEN told.record_id ELSE excluded.record_id END
       WHERE told.version < excluded.version`,
      [projectNumber, version, JSON.stringify(wants), xid, seq, recordId],
    );
  };
