import type { Parameters } from '../../sql.ts';
import { ownerField } from './slots.ts';

/** A field, or some together, of which no two records of a collection have the same values. */
export interface UniqueField {
  /** Under which its values are kept. */
  number: number;
  /** As filters name them. */
  fields: readonly string[];
}

/** The group of a record, where its collection knows groups; else the app's own field. */
export const groupField = 'groupId';

/** The key of the values of a row; null where it has none that could be another's too. */
export type KeySql = (row: { document: string; owner: string; group: string }) => string;

const fieldKeySql = (field: string, parameters: Parameters): KeySql => {
  if (field === ownerField) return ({ owner }) => `records.unique_key(records.owner_key(${owner}))`;
  const path = parameters.add(field.split('.'), 'text[]');
  if (field !== groupField) return ({ document }) => `records.unique_key(${document} #> ${path})`;
  return ({ document, group }) =>
    `records.unique_key(CASE WHEN ${group} IS NULL THEN ${document} #> ${path} ELSE records.owner_key(${group}) END)`;
};

export const keySql = ({ fields }: UniqueField, parameters: Parameters): KeySql => {
  const [first, ...others] = fields.map((field) => fieldKeySql(field, parameters));
  if (first && others.length === 0) return first;
  return (row) =>
    `records.together_key(ARRAY[${[first, ...others].map((key) => key?.(row)).join(', ')}])`;
};

/** Of a row of `records`. @param document in place of its own */
export const rowColumns = (row: 'old' | 'new' | 'records', document = `${row}.data`) => ({
  document,
  owner: `${row}.owner_id`,
  group: `${row}.group_id`,
});
