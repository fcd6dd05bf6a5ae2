import { ApiError, type TrashedCollection } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { epochMsSql, inCollection, isoTimeSql } from '../../sql.ts';
import { makePlace, type PlaceLimits } from './places.ts';
import { giveUp, isKeptSql, setUnusedAside } from './removal.ts';
import { countedSql } from './summaries.ts';

/** One that was deleted or emptied and can come back. */
export interface KeptCollection {
  id: number;
  /** That it had. */
  name: string;
  isEmptied: boolean;
  createdMs: number;
}

export interface RestoreOptions {
  /** Another one than it had. */
  name?: string | undefined;
  /** Whether it is only asked whether it could. */
  isTried?: boolean;
  places: PlaceLimits;
  nowMs: number;
}

/** Of `ended_collections ended` and `collections`, as tables of FROM. */
export const keptFromSql = `ended_collections ended JOIN collections ON collections.project_id = $1 AND collections.coll_id = ended.coll_id
  AND collections.deleted_at = ended.kept_until AND ended.restored_at IS NULL AND collections.${isKeptSql}`;
export const keptColumns = `ended.coll_id AS id, ended.name, ended.is_emptied AS "isEmptied", ${epochMsSql('collections.created_at')} AS "createdMs"`;

const ofName = `ended.project_id = $1 AND ended.name = $2 AND ($3::timestamptz IS NULL OR ended.ended_at = $3)`;

const listSql = `SELECT ended.name, CASE WHEN ended.is_emptied THEN 'emptied' ELSE 'deleted' END AS how,
    ${countedSql('row_count', 'd')} AS records, ${countedSql('byte_count', 'bytes')} AS "sizeBytes",
    ${isoTimeSql('ended.ended_at')} AS "deletedAt", ${isoTimeSql('ended.kept_until')} AS "keptUntil", actor AS by, request_id AS "requestId"
  FROM ${keptFromSql} WHERE ended.project_id = $1 ORDER BY ended.ended_at DESC, ended.coll_id DESC`;

/** Newest first. */
export const listKept = (database: Database, projectNumber: number): Promise<TrashedCollection[]> =>
  database.query<TrashedCollection>(listSql, [projectNumber]);

export const notKept = (name: string) =>
  new ApiError(
    'not_found',
    `No deleted collection ${JSON.stringify(name)} can come back: there was none, or it is erased.`,
    { hint: 'GET …/trash/collections lists those that can.' },
  );

/** Newest first. */
export const findKept = (
  database: Database,
  projectNumber: number,
  name: string,
  deletedAt?: string,
): Promise<KeptCollection[]> =>
  database.query<KeptCollection>(
    `SELECT ${keptColumns} FROM ${keptFromSql} WHERE ${ofName} ORDER BY ended.ended_at DESC, ended.coll_id DESC`,
    [projectNumber, name, deletedAt ?? null],
  );

/** Erases those of a name at once. @returns how many @throws ApiError not_found */
export const eraseKept = async (
  database: Database,
  projectNumber: number,
  name: string,
  deletedAt?: string,
): Promise<number> => {
  const kept = await findKept(database, projectNumber, name, deletedAt);
  const ids = kept.map(({ id }) => id);
  const count = ids.length > 0 ? await giveUp(database, projectNumber, ids) : 0;
  if (count === 0) throw notKept(name);
  return count;
};

interface Holder {
  id: number;
  is_set: boolean;
  created_ms: number;
  has_records: boolean;
}

const holderSql = `SELECT coll_id AS id, is_set, ${epochMsSql('created_at')} AS created_ms,
    EXISTS (SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = collections.coll_id) AS has_records
  FROM collections WHERE project_id = $1 AND name = $2`;

const isTaken = (name: string, why: string) =>
  new ApiError('conflict', `There is a collection ${JSON.stringify(name)} ${why}.`, {
    hint: 'Restore it under another name ({"name": "…"}), or rename or delete that one first.',
  });

/** What was set since then of one that was emptied. */
const takeOverSql = `UPDATE collections SET access = holder.access, on_erase = holder.on_erase, history = holder.history, personal = holder.personal
  FROM (SELECT access, on_erase, history, personal FROM collections WHERE project_id = $1 AND coll_id = $3) holder
  WHERE collections.project_id = $1 AND collections.coll_id = $2`;

const restoredSql = `UPDATE ended_collections SET restored_at = $3 WHERE ${inCollection} AND kept_until = (
    SELECT deleted_at FROM collections WHERE ${inCollection})`;

/**
 * Makes it one that is found again, in the transaction that has locked the project's collections. A collection without
 * records gives it its name, where that has taken its place when it was emptied or nothing is set of it.
 * @returns the name @throws ApiError not_found, conflict, collection_limit: nothing has changed then
 */
export const restoreKept = async (
  database: Database,
  project: Pick<Identity['project'], 'id' | 'number'>,
  kept: KeptCollection,
  { name = kept.name, isTried = false, places, nowMs }: RestoreOptions,
): Promise<string> => {
  const key = [project.number, kept.id];
  // The eraser is done with its batch by then, or finds it back.
  const found = await database.query(
    `SELECT FROM collections WHERE ${inCollection} AND deleted_at > clock_timestamp() FOR NO KEY UPDATE`,
    key,
  );
  if (found.length === 0) throw notKept(kept.name);
  const [holder] = await database.query<Holder>(holderSql, [project.number, name]);
  const isReplacement =
    kept.isEmptied && name === kept.name && holder?.created_ms === kept.createdMs;
  if (holder?.has_records) throw isTaken(name, 'with records already');
  if (holder?.is_set && !isReplacement) throw isTaken(name, 'already');
  if (isTried) return name;
  if (!holder) await makePlace(database, project, null, { limits: places, nowMs });
  else {
    if (!(await setUnusedAside(database, { projectNumber: project.number, id: holder.id, name })))
      throw isTaken(name, 'with records already');
    if (isReplacement) await database.query(takeOverSql, [...key, holder.id]);
  }
  await database.query(restoredSql, [...key, new Date(nowMs)]);
  await database.query(
    `UPDATE collections SET name = $3, took_name = true, deleted_at = NULL, is_erased = false, epoch = epoch + 1 WHERE ${inCollection}`,
    [...key, name],
  );
  return name;
};
