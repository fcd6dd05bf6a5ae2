import { claimValues } from '../collections/stored/claims.ts';
import { failBuilding } from '../collections/stored/generations.ts';
import { claimBytes } from '../collections/stored/side-sql.ts';
import { uniqueColumns } from '../collections/stored/unique-fields.ts';
import {
  type Builder,
  type BuilderDeps,
  createBuilder,
  type Generation,
} from './building/build.ts';

interface FieldRow extends Generation {
  field: string;
  /** Null where it is the field alone. */
  fields: string[] | null;
}

const namesIn = ({ field, fields }: FieldRow): readonly string[] => fields ?? [field];

/** Claims the values of records from before, and removes those of fields that are unique no longer. */
export const createUniqueBuilder = (deps: BuilderDeps): Builder => {
  const { database, quota } = deps;
  const fail = (row: FieldRow, duplicates: readonly string[] | null) => () =>
    failBuilding(deps, 'unique_fields', row, { ...uniqueColumns(namesIn(row)), duplicates });

  return createBuilder<FieldRow>(database, {
    table: 'unique_fields',
    columns: ['field', 'fields'],
    rows: { table: 'unique_values', key: 'key', bytes: String(claimBytes) },
    batchRows: 500,
    async fill(collection, row, ids) {
      if (await quota.isFull(row.project_id)) return fail(row, null);
      const [taken] = await claimValues(
        database,
        collection,
        [{ ...row, fields: namesIn(row) }],
        ids,
      );
      if (!taken) return 'done';
      // Where the other has just given the value up, the same batch is tried again.
      return taken.heldBy === null ? 'again' : fail(row, [taken.heldBy, taken.id]);
    },
  });
};
