import type { Database } from '@backlot/database';
import { recordJsonSql } from '../sql.ts';

/** The clocks of processes and of PostgreSQL may differ by as much. */
const clockDifferenceMs = 60_000;

/** The first change of each record since `$4`, with what there was before. */
const firstChangeSql = `
  SELECT DISTINCT ON (record_id) record_id, kind, old_data, old_owner, old_group, old_updated_at, old_size FROM changes
   WHERE project_id = $1 AND coll_id = $2 AND kind <> 's' AND changed_at > $4 AND seq > $5 AND record_id = ANY ($3::uuid[])
   ORDER BY record_id, seq`;

/** Records `$3` as they were at `$4`: without those that were made since, with those that were deleted since. */
const formerSql = `
  SELECT candidate.id, coalesce(own.created_at, uuid_extract_timestamp(candidate.id)) AS created_at,
    CASE WHEN first.kind IS NULL THEN own.owner_id ELSE first.old_owner END AS owner_id,
    CASE WHEN first.kind IS NULL THEN own.group_id ELSE first.old_group END AS group_id,
    CASE WHEN first.kind IS NULL THEN own.updated_at ELSE first.old_updated_at END AS updated_at,
    CASE WHEN first.kind IS NULL THEN own.data ELSE first.old_data END AS data,
    CASE WHEN first.kind IS NULL THEN own.size_bytes ELSE first.old_size END AS size_bytes
  FROM unnest($3::uuid[]) candidate (id)
    LEFT JOIN (${firstChangeSql}) first ON first.record_id = candidate.id
    LEFT JOIN records own ON own.project_id = $1 AND own.coll_id = $2 AND own.id = candidate.id
  WHERE first.kind IN ('u', 'd') OR (first.kind IS NULL AND own.created_at <= $4)`;

/** Ids behind `$3` that records have, or had when they were deleted. */
const candidatesSql = `
  SELECT id FROM (
    (SELECT id FROM records WHERE project_id = $1 AND coll_id = $2 AND id > $3 ORDER BY id LIMIT $5)
    UNION
    (SELECT DISTINCT record_id FROM changes
      WHERE project_id = $1 AND coll_id = $2 AND record_id > $3 AND kind <> 'c' AND changed_at > $4 ORDER BY record_id LIMIT $5)
  ) candidates ORDER BY id LIMIT $5`;

export interface Version {
  id: string;
  size_bytes: number;
}

/** Records of a collection as they were, from the log of changes. */
export const createRecordsAsOf = (database: Database, key: readonly number[], asOfMs: number) => {
  const asOf = new Date(asOfMs);
  const since = (asOfMs - clockDifferenceMs) * 1000;
  return {
    async candidates(after: string, limit: number): Promise<string[]> {
      const rows = await database.scan<{ id: string }>(candidatesSql, [...key, after, asOf, limit]);
      return rows.map(({ id }) => id);
    },
    /** Of those that were there. */
    sizes: (ids: readonly string[]) =>
      database.scan<Version>(`SELECT id, size_bytes FROM (${formerSql}) former ORDER BY id`, [
        ...key,
        ids,
        asOf,
        since,
      ]),
    json: (ids: readonly string[]) =>
      database.query<{ json: string }>(
        `SELECT ${recordJsonSql()} AS json FROM (${formerSql}) former ORDER BY id`,
        [...key, ids, asOf, since],
      ),
  };
};
