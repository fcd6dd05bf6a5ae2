import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { isSystemField, pathProblem, severalNamed } from '../../fields.ts';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { checkDropping, lockCollection, raiseEpoch, startDropping } from './generations.ts';
import type { SearchState } from './search-words.ts';

/** What the owner asks for: all fields, these, or none. */
export type SearchChange = boolean | readonly string[];

interface SearchRow {
  number: number;
  fields: string[] | null;
  state: SearchState | 'failed' | 'dropping';
}

/** @throws ApiError invalid_body */
const checkField = (field: string): void => {
  const quoted = JSON.stringify(field.slice(0, 60));
  const problem = isSystemField(field)
    ? 'holds no words'
    : (pathProblem(field) ?? severalNamed(field));
  if (problem) throw new ApiError('invalid_body', `search: the field ${quoted} ${problem}.`);
};

/**
 * Switches the search of a collection on or off, in the surrounding transaction. Other fields than before are
 * indexed anew, and so are those whose index has failed.
 * @throws ApiError invalid_body, conflict where it was done too often just now
 */
export const setSearch = async (
  database: Database,
  collection: CollectionKey,
  given: SearchChange,
): Promise<void> => {
  const fields = typeof given === 'boolean' ? null : [...new Set(given)].sort();
  for (const field of fields ?? []) checkField(field);
  await lockCollection(database, collection);
  const { projectNumber, id } = collection;
  const rows = await database.query<SearchRow>(
    `SELECT number, fields, state FROM searches WHERE ${inCollection}`,
    [projectNumber, id],
  );
  const current = rows.find(({ state }) => state !== 'dropping');
  const isKept = current && current.state !== 'failed' && isSame(current.fields, fields);
  if (given === false ? !current : isKept) return;
  checkDropping(rows.length);
  if (current) await startDropping(database, 'searches', collection, current.number);
  const number = await raiseEpoch(database, collection);
  if (given === false) return;
  await database.query(
    `INSERT INTO searches (project_id, coll_id, number, fields, state) VALUES ($1, $2, $3, $4, 'building')`,
    [projectNumber, id, number, fields],
  );
};

const isSame = (a: readonly string[] | null, b: readonly string[] | null) =>
  JSON.stringify(a) === JSON.stringify(b);

const ofCollection =
  'FROM searches WHERE searches.project_id = $1 AND searches.coll_id = collections.coll_id';

/** That which writers fill, of the collection in a statement that selects from `collections`: JSON; null where it is off. */
export const searchSql = `(SELECT json_build_object('number', number, 'fields', fields, 'state', state, 'isFormer', rule < 2)
    ${ofCollection} AND state IN ('building', 'ready'))`;

export const shownSearchSql = `(SELECT json_build_object('fields', fields, 'state', state) ${ofCollection} AND state <> 'dropping')`;
