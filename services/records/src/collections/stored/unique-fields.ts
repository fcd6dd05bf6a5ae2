import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { pathProblem, severalNamed } from '../../fields.ts';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { checkDropping, lockCollection, raiseEpoch, startDropping } from './generations.ts';

export type UniqueState = 'building' | 'ready' | 'failed';

interface UniqueRow {
  number: number;
  field: string;
  state: UniqueState | 'dropping';
}

/** An id is unique anyway, and times are the server's. */
const cannotBeUnique: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt']);

/** @throws ApiError invalid_body */
const checkField = (field: string): void => {
  const quoted = JSON.stringify(field.slice(0, 60));
  const problem = pathProblem(field);
  if (problem) throw new ApiError('invalid_body', `unique: the field ${quoted} ${problem}.`);
  if (severalNamed(field))
    throw new ApiError(
      'invalid_body',
      `unique: ${quoted} names several fields, and no combination can be unique yet.`,
      {
        hint: 'Keep both in one field of the record, such as {"key":"<post>:<user>"}, and send {"unique":["key"]}. {"unique":["ownerId"]} allows each user one record.',
      },
    );
  if (!cannotBeUnique.has(field)) return;
  throw new ApiError('invalid_body', `unique: ${quoted} can not be chosen.`);
};

/**
 * Makes exactly these fields unique, in the surrounding transaction. One that has failed begins anew.
 * @throws ApiError invalid_body, conflict where it was done too often just now
 */
export const setUniqueFields = async (
  database: Database,
  collection: CollectionKey,
  given: readonly string[],
): Promise<void> => {
  const fields = [...new Set(given)];
  for (const field of fields) checkField(field);
  await lockCollection(database, collection);
  const { projectNumber, id } = collection;
  const rows = await database.query<UniqueRow>(
    `SELECT number, field, state FROM unique_fields WHERE ${inCollection}`,
    [projectNumber, id],
  );
  const isKept = ({ field, state }: UniqueRow) =>
    fields.includes(field) && (state === 'building' || state === 'ready');
  const current = rows.filter(({ state }) => state !== 'dropping');
  const removed = current.filter((row) => !isKept(row));
  const added = fields.filter((name) => !current.some((row) => row.field === name && isKept(row)));
  checkDropping(rows.length - current.length + removed.length);
  for (const { number, state } of removed) {
    if (state !== 'failed') await startDropping(database, 'unique_fields', collection, number);
    else
      await database.query(`DELETE FROM unique_fields WHERE ${inCollection} AND number = $3`, [
        projectNumber,
        id,
        number,
      ]);
  }
  if (removed.length > 0) await raiseEpoch(database, collection);
  for (const field of added) {
    const number = await raiseEpoch(database, collection);
    await database.query(
      `INSERT INTO unique_fields (project_id, coll_id, number, field, state) VALUES ($1, $2, $3, $4, 'building')`,
      [projectNumber, id, number, field],
    );
  }
};

/** Those that writers fill, of the collection in a statement that selects from `collections`: JSON. */
export const claimedFieldsSql = `(SELECT coalesce(json_agg(json_build_object('number', number, 'field', field) ORDER BY number), '[]')
    FROM unique_fields WHERE unique_fields.project_id = $1 AND unique_fields.coll_id = collections.coll_id
      AND state IN ('building', 'ready'))`;

/** As the list of collections shows them: JSON. */
export const shownFieldsSql = `(SELECT coalesce(json_agg(json_strip_nulls(json_build_object('field', field, 'state', state, 'duplicates', duplicates)) ORDER BY number), '[]')
    FROM unique_fields WHERE unique_fields.project_id = $1 AND unique_fields.coll_id = collections.coll_id
      AND state <> 'dropping')`;
