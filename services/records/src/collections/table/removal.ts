import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { inCollection } from '../../sql.ts';

interface Named {
  projectNumber: number;
  id: number;
  name: string;
}

/** Of a project, that are still being erased: who deletes and makes anew in a loop waits for them. */
const maxDeleted = 100;

/** What says how a collection is written, and the columns beside those of every collection. */
export const settingColumns = {
  slots:
    'slot, field, state, is_pinned, assigned_at, is_known, position, ready_at, distinct_share, uses, used_at, scans, scanned_ms, filled',
  unique_fields: 'number, field, fields, state, is_known, position, duplicates',
  searches: 'number, fields, state, is_known, position, rule, renewed',
  record_limits: 'number, state, is_known, position',
};
const settings = Object.keys(settingColumns);

/** With rows of a collection, beside those of its records. */
export const collectionTables = ['count_delta', 'observations', 'schema_reports', ...settings];

/** Until the end of the transaction nobody else makes, renames or deletes collections of the project. */
export const lockCollections = (database: Database, projectNumber: number) =>
  database.query(`SELECT pg_advisory_xact_lock(hashtextextended('collections', $1))`, [
    projectNumber,
  ]);

/** Whether one that was deleted can come back: what makes it be erased lies ahead. */
export const isKeptSql = 'deleted_at > now()';

/** Nothing is built for them any more. @param ids of collections that are being erased */
const deleteSettings = async (
  database: Database,
  projectNumber: number,
  ids: readonly number[],
) => {
  for (const table of settings)
    await database.query(`DELETE FROM ${table} WHERE project_id = $1 AND coll_id = ANY ($2)`, [
      projectNumber,
      ids,
    ]);
};

/**
 * Makes a collection one that nobody finds, in the surrounding transaction; what was its own is erased later.
 * `unused`: it had no records, and comes back by its name. @param keptUntil null: it does not come back otherwise
 * @returns false where too many are being erased
 */
export const setAside = async (
  database: Database,
  { projectNumber, id, name }: Named,
  why: 'deleted' | 'unused',
  keptUntil: Date | null = null,
): Promise<boolean> => {
  const [deleted] = await database.query<{ count: number }>(
    `SELECT count(*) FROM collections WHERE project_id = $1 AND deleted_at IS NOT NULL AND NOT ${isKeptSql}`,
    [projectNumber],
  );
  if ((deleted?.count ?? 0) >= maxDeleted) return false;
  await database.query(
    `UPDATE collections SET name = '!' || coll_id, former_name = $3, deleted_at = $4, is_erased = $5, epoch = epoch + 1
     WHERE ${inCollection}`,
    [
      projectNumber,
      id,
      why === 'unused' ? name : null,
      keptUntil ?? new Date(),
      // The release before looks at no more.
      keptUntil !== null,
    ],
  );
  return true;
};

/** Lets those be erased that could have come back, in the surrounding transaction. */
export const giveUp = async (database: Database, projectNumber: number, ids: readonly number[]) => {
  const given = await database.query<{ id: number }>(
    `UPDATE collections SET deleted_at = $3, is_erased = false
     WHERE project_id = $1 AND coll_id = ANY ($2) AND deleted_at > $3 RETURNING coll_id AS id`,
    [projectNumber, ids, new Date()],
  );
  const gone = given.map(({ id }) => id);
  await deleteSettings(database, projectNumber, gone);
  return gone.length;
};

const tooManyDeleted = () =>
  new ApiError('conflict', 'Too many collections of this project are being erased just now.', {
    hint: 'Try again in some minutes.',
  });

/** @throws ApiError conflict */
export const removeCollection = async (
  database: Database,
  collection: Named,
  keptUntil: Date | null,
): Promise<void> => {
  if (!(await setAside(database, collection, 'deleted', keptUntil))) throw tooManyDeleted();
  if (keptUntil === null) await deleteSettings(database, collection.projectNumber, [collection.id]);
};

/**
 * Sets a collection without records aside, in the surrounding transaction; a write that was under way brings it back.
 * Returns false where it has records. @throws ApiError conflict
 */
export const setUnusedAside = async (database: Database, collection: Named): Promise<boolean> => {
  const { projectNumber, id } = collection;
  const [record] = await database.query(`SELECT FROM records WHERE ${inCollection} LIMIT 1`, [
    projectNumber,
    id,
  ]);
  if (record) return false;
  if (!(await setAside(database, collection, 'unused'))) throw tooManyDeleted();
  return true;
};

/** Of one whose records alone are deleted. */
const keptColumns = [
  'access',
  'schema',
  'limits',
  'on_erase',
  'personal',
  'history',
  'created_at',
  'made_by',
  'is_set',
  'epoch',
] as const;

/** In a transaction that has locked the project's collections. */
export const nextCollectionId = async (
  database: Database,
  projectNumber: number,
): Promise<number> => {
  const [next] = await database.query<{ id: number }>(
    'SELECT coalesce(max(coll_id), 0) + 1 AS id FROM collections WHERE project_id = $1',
    [projectNumber],
  );
  return next?.id ?? 1;
};

/**
 * Puts an empty collection in the place of another one, with its name and settings.
 * @throws ApiError conflict
 */
export const emptyCollection = async (
  database: Database,
  collection: Named,
  keptUntil: Date | null,
): Promise<void> => {
  const { projectNumber, id, name } = collection;
  if (!(await setAside(database, collection, 'deleted', keptUntil))) throw tooManyDeleted();
  const newId = await nextCollectionId(database, projectNumber);
  const [kept] = await database.query<Record<(typeof keptColumns)[number], unknown>>(
    `SELECT ${keptColumns.join(', ')} FROM collections WHERE ${inCollection}`,
    [projectNumber, id],
  );
  await database.query(
    `INSERT INTO collections (project_id, coll_id, name, counted_at, ${keptColumns.join(', ')})
     VALUES ($1, $2, $3, now(), ${keptColumns.map((_, n) => `$${n + 4}`).join(', ')})`,
    [projectNumber, newId, name, ...keptColumns.map((column) => kept?.[column])],
  );
  for (const [table, columns] of Object.entries(settingColumns))
    await database.query(
      `INSERT INTO ${table} (project_id, coll_id, ${columns}) SELECT $1::int8, $3::int4, ${columns} FROM ${table} WHERE ${inCollection}`,
      [projectNumber, id, newId],
    );
  if (keptUntil === null) await deleteSettings(database, projectNumber, [id]);
};
