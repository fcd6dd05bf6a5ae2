import type { FormatName } from './formats.ts';
import type { Pattern } from './pattern.ts';

/** docs/api.md, "Schemas". */
export const schemaTypes = [
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
] as const;
export type SchemaType = (typeof schemaTypes)[number];

/** What the server writes into a field of a new record. */
export const serverValues = ['owner', 'now', 'caller.name'] as const;
export type ServerValue = (typeof serverValues)[number];

/** The values of `enum` or `const`. */
export interface AllowedValues {
  rule: 'enum' | 'const';
  /** Strings, numbers, booleans and null. */
  plain: ReadonlySet<unknown>;
  /** Lists and objects, as `canonicalJson` writes them. */
  others: ReadonlySet<string>;
  /** As a message names them. */
  shown: string;
}

/** What a value has to be, ready to be asked. What is undefined allows all. */
export interface ValueSchema {
  /** The schema `false`: there is no such value. */
  isNever?: true;
  types?: ReadonlySet<SchemaType>;
  allowed?: readonly AllowedValues[];
  minLength?: number;
  maxLength?: number;
  pattern?: Pattern;
  format?: FormatName;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  items?: ValueSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: ReadonlyMap<string, ValueSchema>;
  required?: readonly string[];
  /** Of fields that `properties` has not. */
  additionalProperties?: ValueSchema;
  minProperties?: number;
  maxProperties?: number;
  /** Written where the field is missing. */
  default?: unknown;
  /** Whether a field somewhere below has a default. */
  fillsBelow?: true;
  /** The collection of whose records it is an id. */
  ref?: string;
  serverValue?: ServerValue;
}

/** The schema of a collection's records. */
export interface CompiledSchema {
  /** About as many bytes does it take in memory. */
  sizeBytes: number;
  root: ValueSchema;
  /** Fields that the server writes. */
  serverFields: readonly (readonly [field: string, value: ServerValue])[];
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a JSON value. */
export const typeName = (value: unknown): SchemaType => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'string' | 'number' | 'boolean' | 'object';
};

/** Equal values have equal texts, whatever the order of their keys. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${entries.join(',')}}`;
};
