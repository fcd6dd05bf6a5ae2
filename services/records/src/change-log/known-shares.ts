import type { Database } from '@backlot/database';
import { type KnownShares, lasting, shareKey } from './judge.ts';
import type { LogEntry } from './read-log.ts';

const none: KnownShares = new Map();

/** Those that there are, and those that have ended, of which there is data, with an entry of the log, at or behind the first that is read. */
const sharesSql = `
  SELECT coll_id, record_id, user_id, NULL::int8 AS ended FROM shares
    WHERE project_id = $1 AND coll_id = ANY ($2::int[]) AND record_id = ANY ($3::uuid[]) AND user_id = ANY ($5::uuid[])
  UNION ALL
  SELECT coll_id, record_id, user_id, seq FROM (
    SELECT changes.coll_id, changes.record_id, unnest(changes.old_shares) AS user_id, changes.seq
    FROM unnest($2::int[], $3::uuid[], $4::int8[]) entry(coll_id, record_id, seq) JOIN changes ON changes.project_id = $1
      AND changes.coll_id = entry.coll_id AND changes.record_id = entry.record_id AND changes.seq >= entry.seq AND changes.kind <> 'c'
    WHERE changes.old_shares IS NOT NULL AND changes.old_data IS NOT NULL) lost WHERE user_id = ANY ($5::uuid[])`;

interface Row {
  coll_id: number;
  record_id: string;
  user_id: string;
  /** Null where it has not. */
  ended: number | null;
}

/** Which of these users have a share of the entries' records, or had one then. */
export const readShares = async (
  database: Database,
  projectNumber: number,
  entries: readonly LogEntry[],
  userIds: readonly string[],
): Promise<KnownShares> => {
  if (entries.length === 0 || userIds.length === 0) return none;
  const firsts = new Map<string, LogEntry>();
  for (const entry of entries) {
    const key = `${entry.collectionId} ${entry.recordId}`;
    const known = firsts.get(key);
    if (!known || entry.position.seq < known.position.seq) firsts.set(key, entry);
  }
  const asked = [...firsts.values()];
  const rows = await database.query<Row>(sharesSql, [
    projectNumber,
    asked.map(({ collectionId }) => collectionId),
    asked.map(({ recordId }) => recordId),
    asked.map(({ position }) => position.seq),
    userIds,
  ]);
  const shares = new Map<string, number>();
  for (const { coll_id, record_id, user_id, ended } of rows) {
    const key = shareKey(coll_id, record_id, user_id);
    shares.set(key, Math.max(shares.get(key) ?? -1, ended ?? lasting));
  }
  return shares;
};
