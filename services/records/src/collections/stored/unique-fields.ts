import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { pathProblem, severalNamed } from '../../fields.ts';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { checkDropping, lockCollection, raiseEpoch, startDropping } from './generations.ts';

export type UniqueState = 'building' | 'ready' | 'failed';

interface UniqueRow {
  number: number;
  fields: string[];
  state: UniqueState | 'dropping';
}

/** What the owner asks for: a field, or some together. */
export type UniqueChange = readonly (string | readonly string[])[];

/** An id is unique anyway, and times are the server's. */
const cannotBeUnique: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt']);

/** @throws ApiError invalid_body */
const checkField = (field: string): void => {
  const quoted = JSON.stringify(field.slice(0, 60));
  const problem = pathProblem(field);
  if (problem) throw new ApiError('invalid_body', `unique: the field ${quoted} ${problem}.`);
  if (severalNamed(field)) {
    const together = JSON.stringify([field.split(/[+,]/).map((name) => name.trim())]);
    throw new ApiError('invalid_body', `unique: ${quoted} names several fields.`, {
      hint: `Fields that are unique together are a list of their own: {"unique":${together}}.`,
    });
  }
  if (!cannotBeUnique.has(field)) return;
  throw new ApiError('invalid_body', `unique: ${quoted} can not be chosen.`);
};

const keyFor = (fields: readonly string[]): string => JSON.stringify([...fields].sort());

/** Whatever the order of those that are unique together. @throws ApiError invalid_body */
const parseUnique = (given: UniqueChange): ReadonlyMap<string, readonly string[]> => {
  const asked = new Map<string, readonly string[]>();
  for (const one of given) {
    const fields = typeof one === 'string' ? [one] : one;
    for (const field of fields) checkField(field);
    const [twice] = fields.filter((field, i) => fields.indexOf(field) !== i);
    if (twice !== undefined)
      throw new ApiError('invalid_body', `unique: ${JSON.stringify(twice)} is named twice.`);
    if (!asked.has(keyFor(fields))) asked.set(keyFor(fields), fields);
  }
  return asked;
};

/** The fields of a row of `unique_fields`. */
const fieldsSql = 'coalesce(fields, ARRAY[field])';

/** What is kept of fields that are unique, beside what each generation has. */
export const uniqueColumns = (fields: readonly string[]) => ({
  field: fields.join(', '),
  fields: fields.length > 1 ? fields : null,
});

/**
 * Makes exactly these fields unique, in the surrounding transaction. One that has failed begins anew.
 * @throws ApiError invalid_body, conflict where it was done too often just now
 */
export const setUniqueFields = async (
  database: Database,
  collection: CollectionKey,
  given: UniqueChange,
): Promise<void> => {
  const asked = parseUnique(given);
  await lockCollection(database, collection);
  const { projectNumber, id } = collection;
  const rows = await database.query<UniqueRow>(
    `SELECT number, ${fieldsSql} AS fields, state FROM unique_fields WHERE ${inCollection}`,
    [projectNumber, id],
  );
  const isKept = ({ fields, state }: UniqueRow) =>
    asked.has(keyFor(fields)) && (state === 'building' || state === 'ready');
  const current = rows.filter(({ state }) => state !== 'dropping');
  const removed = current.filter((row) => !isKept(row));
  const kept = new Set(current.filter(isKept).map(({ fields }) => keyFor(fields)));
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
  for (const [key, fields] of asked) {
    if (kept.has(key)) continue;
    const number = await raiseEpoch(database, collection);
    const columns = uniqueColumns(fields);
    await database.query(
      `INSERT INTO unique_fields (project_id, coll_id, number, field, fields, state) VALUES ($1, $2, $3, $4, $5, 'building')`,
      [projectNumber, id, number, columns.field, columns.fields],
    );
  }
};

/** Those that writers fill, of the collection in a statement that selects from `collections`: JSON. */
export const claimedFieldsSql = `(SELECT coalesce(json_agg(json_build_object('number', number, 'fields', ${fieldsSql}) ORDER BY number), '[]')
    FROM unique_fields WHERE unique_fields.project_id = $1 AND unique_fields.coll_id = collections.coll_id
      AND state IN ('building', 'ready'))`;

/** As the list of collections shows them, and as they were asked for: JSON. */
export const shownFieldsSql = `(SELECT coalesce(json_agg(json_strip_nulls(json_build_object('field', CASE WHEN fields IS NULL THEN to_json(field) ELSE to_json(fields) END, 'state', state, 'duplicates', duplicates)) ORDER BY number), '[]')
    FROM unique_fields WHERE unique_fields.project_id = $1 AND unique_fields.coll_id = collections.coll_id
      AND state <> 'dropping')`;
