import { isDeepStrictEqual } from 'node:util';
import type { Identity } from '@backlot/identity';
import type { Patch } from './arbitrary-calls.ts';
import type { Data, Value } from './words.ts';

export interface ValueSchema {
  type?: 'integer' | 'string' | 'object';
  enum?: Value[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: Value;
  'x-set'?: 'owner';
  'x-ref'?: 'others';
  properties?: Record<string, ValueSchema>;
  required?: string[];
  additionalProperties?: boolean;
}

/** Whether there is a record of the other collection that the caller sees. */
type SeesOther = (id: string) => boolean;

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOfType = (type: ValueSchema['type'], value: unknown): boolean =>
  type === undefined || typeof value === (type === 'integer' ? 'number' : type);

const fits = (schema: ValueSchema, value: unknown, seesOther: SeesOther): boolean => {
  const { type, enum: allowed, 'x-ref': ref } = schema;
  if (!isOfType(ref ? 'string' : type, value)) return false;
  if (allowed && !allowed.some((one) => isDeepStrictEqual(one, value))) return false;
  const { minimum = -1 / 0, maximum = 1 / 0, maxLength = 1 / 0 } = schema;
  if (typeof value === 'number') return value >= minimum && value <= maximum;
  if (typeof value === 'string') return value.length <= maxLength && (!ref || seesOther(value));
  const fields = value as Data;
  return fieldsFit(schema, fields, seesOther) && hasRequired(schema, (name) => name in fields);
};

/** Each by itself. */
export const fieldsFit = (
  { properties, additionalProperties }: ValueSchema,
  data: Readonly<Record<string, unknown>>,
  seesOther: SeesOther,
): boolean =>
  Object.entries(data).every(([name, value]) => {
    const field = properties?.[name];
    return field ? fits(field, value, seesOther) : additionalProperties !== false;
  });

export const hasRequired = ({ required = [] }: ValueSchema, has: (name: string) => boolean) =>
  required.every(has);

/** With the defaults of fields that are missing. @param stays whether one stays so */
export const withDefaults = (
  { properties = {} }: ValueSchema,
  data: Data,
  stays: (name: string) => boolean = () => false,
): Data => {
  const missing = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined || stays(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(missing), ...data };
};

export const serverFields = ({ properties = {} }: ValueSchema): string[] =>
  Object.keys(properties).filter((name) => properties[name]?.['x-set'] !== undefined);

/** A new record's fields, with what the server writes. */
export const filled = (
  schema: ValueSchema | undefined,
  { caller, userId }: Identity,
  data: Data,
): Data => {
  if (!schema) return data;
  const owner = caller === 'user' && userId ? userId : undefined;
  const written = owner === undefined ? [] : serverFields(schema).map((name) => [name, owner]);
  return withDefaults(schema, { ...Object.fromEntries(written), ...data });
};

/** Whether what a patch says by itself fits. */
export const patchFits = (
  schema: ValueSchema,
  { data, unset, inc, isDeep }: Patch,
  seesOther: SeesOther,
): boolean => {
  const { properties = {} } = schema;
  const isRemoved = (name: string) => unset.includes(name) || (isDeep && data[name] === null);
  const set = Object.entries(data).filter(
    ([name, value]) =>
      !isRemoved(name) && !(isDeep && isObject(value) && properties[name] !== undefined),
  );
  const isKnown = (name: string) => name in properties || schema.additionalProperties !== false;
  return (
    hasRequired(schema, (name) => !isRemoved(name)) &&
    fieldsFit(schema, Object.fromEntries(set), seesOther) &&
    Object.keys(inc).every(isKnown)
  );
};

/** A sum of a number that fits and what leads towards no bound fits. */
const mayLeave = (field: ValueSchema, by: number): boolean =>
  field.enum !== undefined ||
  (by > 0 ? field.maximum : field.minimum) !== undefined ||
  !fits(field, by, () => true);

/** Whether objects that a patch merges, and its sums, fit once they are there. */
export const resultFits = (
  schema: ValueSchema,
  { data, inc, isDeep }: Patch,
  after: Data,
): boolean => {
  const merged = Object.keys(data).filter((name) => isDeep && isObject(data[name]));
  const sums = Object.entries(inc).flatMap(([name, by]) => {
    const field = schema.properties?.[name];
    return field && mayLeave(field, by) ? [name] : [];
  });
  const open = [...merged, ...sums].map((name) => [name, after[name]]);
  return fieldsFit(schema, Object.fromEntries(open), () => true);
};

/** As PostgreSQL writes it. */
export const bytesIn = (data: Data): number =>
  JSON.stringify(data, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | ([}\]])/g, '$1$2').length;
