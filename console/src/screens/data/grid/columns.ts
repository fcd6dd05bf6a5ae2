import type { Answer } from '../../../api/operation-types.ts';

export type ColumnType = 'text' | 'number' | 'boolean' | 'time' | 'id' | 'json' | 'any';

export interface Column {
  name: string;
  type: ColumnType;
  /** Set by the server. */
  isSystem: boolean;
  /** The values that it can have, where these are few. */
  options?: readonly string[];
  isRequired?: boolean;
  /** Says what the field is for, from the schema. */
  says?: string;
  /** The collection whose ids it holds. */
  ref?: string;
  isIndexed?: boolean;
}

type Shape = Answer<'getCollectionShape'>;

interface Property {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  'x-ref'?: unknown;
  'x-set'?: unknown;
}

export interface Schema {
  properties?: Readonly<Record<string, Property>>;
  required?: readonly string[];
}

/** So many are shown unless somebody chooses others: as many as `fields` of a list may name, with the record's own. */
export const mostColumns = 45;

const typeNames: Readonly<Record<string, ColumnType>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'json',
  array: 'json',
};

const columnType = (types: readonly string[], format?: string): ColumnType => {
  const [first, ...others] = types.filter((type) => type !== 'null');
  if (first === undefined || others.length > 0) return 'any';
  if (first === 'string' && (format === 'date-time' || format === 'date')) return 'time';
  return typeNames[first] ?? 'any';
};

const fromProperty = (name: string, property: Property, schema: Schema): Column => {
  const { type, enum: values, format, title, description } = property;
  const texts = values?.filter((value) => typeof value === 'string');
  const types = type === undefined ? values?.map((value) => typeof value) : [type].flat();
  const says = [title, description].filter(Boolean).join('. ');
  const ref = property['x-ref'];
  return {
    name,
    type: ref === undefined ? columnType([...new Set(types ?? [])], format) : 'text',
    isSystem: false,
    ...(texts && texts.length === values?.length && { options: texts }),
    ...(schema.required?.includes(name) &&
      property.default === undefined &&
      property['x-set'] === undefined && { isRequired: true }),
    ...(says && { says }),
    ...(typeof ref === 'string' && { ref }),
  };
};

const own = (name: string, type: ColumnType): Column => ({ name, type, isSystem: true });
const ownColumns = [
  own('createdAt', 'time'),
  own('updatedAt', 'time'),
  own('ownerId', 'id'),
  own('id', 'id'),
];
const ownNames = new Set(ownColumns.map(({ name }) => name));

/** What is known of a collection's fields, each as far as it is there. */
export interface Known {
  schema: Schema | null | undefined;
  /** Types of the fields of the first rows, most common first. */
  rows: ReadonlyMap<string, readonly string[]> | undefined;
  /** Of a sample; a large one comes late, or not at all. */
  shape: Shape | undefined;
}

/** The fields of a collection: of its schema, of its first rows, then those that others of its records have. */
export const fieldColumns = ({ schema, rows, shape }: Known): Column[] => {
  const columns = new Map<string, Column>();
  for (const [name, property] of Object.entries(schema?.properties ?? {}))
    columns.set(name, fromProperty(name, property, schema ?? {}));
  for (const [name, types] of rows ?? [])
    if (!ownNames.has(name) && !columns.has(name))
      columns.set(name, { name, type: columnType(types), isSystem: false });
  const shaped = [...(shape?.fields ?? [])].sort((a, b) => b.share - a.share);
  for (const { path, types, values, isIndexed } of shaped) {
    if (path.includes('.') || ownNames.has(path)) continue;
    const known = columns.get(path) ?? { name: path, type: columnType(types), isSystem: false };
    const options = known.options ?? (types.length === 1 ? values : undefined);
    columns.set(path, { ...known, ...(options && { options }), ...(isIndexed && { isIndexed }) });
  }
  return [...columns.values()];
};

/** With what the server sets. */
export const withOwnColumns = (fields: readonly Column[]): Column[] => [...fields, ...ownColumns];

const widths: Readonly<Record<ColumnType, number>> = {
  text: 220,
  number: 110,
  boolean: 80,
  time: 150,
  id: 120,
  json: 220,
  any: 180,
};
export const columnWidth = ({ type, name }: Column): number =>
  Math.max(widths[type], Math.min(name.length * 9 + 56, 260));
