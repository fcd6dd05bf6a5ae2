import { recordRoutes } from '@backlot/contract';
import { nearestName } from '@backlot/http';
import {
  type AllowedValues,
  canonicalJson,
  isObject,
  type SchemaType,
  schemaTypes,
  serverValues,
  type ValueSchema,
} from './compiled-schema.ts';
import { type FormatName, formatNames } from './formats.ts';
import { showValues } from './messages.ts';
import type { ParsePlace } from './parse-place.ts';
import { compilePattern, type Pattern } from './pattern.ts';

/** What a keyword says, but for those that hold schemas. @throws ApiError */
type Reader = (value: unknown, place: ParsePlace) => Partial<ValueSchema>;

const readName = <Name extends string>(
  value: unknown,
  known: readonly Name[],
  place: ParsePlace,
): Name => {
  const found = known.find((name) => name === value);
  if (found !== undefined) return found;
  const nearest = typeof value === 'string' ? nearestName(value, known) : undefined;
  return place.refuse(
    `must be one of ${known.map((name) => JSON.stringify(name)).join(', ')}`,
    nearest && `Did you mean "${nearest}"?`,
  );
};

const readTypes: Reader = (value, place) => {
  const names = Array.isArray(value) ? value : [value];
  if (names.length === 0) place.refuse('names no type');
  return { types: new Set(names.map((name): SchemaType => readName(name, schemaTypes, place))) };
};

const toAllowed = (rule: AllowedValues['rule'], values: readonly unknown[]): AllowedValues => ({
  rule,
  plain: new Set(values.filter((value) => typeof value !== 'object' || value === null)),
  others: new Set(
    values.filter((value) => typeof value === 'object' && value !== null).map(canonicalJson),
  ),
  shown: showValues(values),
});

const count =
  (name: 'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minProperties' | 'maxProperties') =>
  (value: unknown, place: ParsePlace): Partial<ValueSchema> =>
    Number.isSafeInteger(value) && Number(value) >= 0
      ? { [name]: value }
      : place.refuse('must be a whole number, not below 0');

const bound =
  (name: 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum') =>
  (value: unknown, place: ParsePlace): Partial<ValueSchema> =>
    typeof value === 'number'
      ? { [name]: value }
      : place.refuse(
          'must be a number',
          typeof value === 'boolean'
            ? 'That is what older drafts took: write {"exclusiveMinimum": 0}.'
            : undefined,
        );

const patternHint =
  'Patterns are of RE2: without look-around and references back. It has to match somewhere in the text: ^ and $ stand for its ends.';

const readPattern: Reader = (value, place) => {
  if (typeof value !== 'string') return place.refuse('must be a regular expression as text');
  let pattern: Pattern;
  try {
    pattern = compilePattern(value);
  } catch (error) {
    return place.refuse(error instanceof Error ? error.message : 'can not be read', patternHint);
  }
  place.countPattern(pattern.size);
  return { pattern };
};

const readRequired: Reader = (value, place) => {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string'))
    return { required: [...new Set(value)] };
  return place.refuse(
    'must be a list of names of fields',
    'It stands in the object that has the fields: {"type": "object", "properties": {"title": {…}}, "required": ["title"]}.',
  );
};

const readReference: Reader = (value, place) => {
  const name = recordRoutes.collectionName.safeParse(value);
  if (!name.success) return place.refuse('must be the name of a collection');
  place.countReference(name.data);
  return { ref: name.data };
};

export const readers: Readonly<Record<string, Reader>> = {
  type: readTypes,
  enum: (value, place) =>
    Array.isArray(value)
      ? { allowed: [toAllowed('enum', value)] }
      : place.refuse('must be a list of values'),
  const: (value) => ({ allowed: [toAllowed('const', [value])] }),
  minLength: count('minLength'),
  maxLength: count('maxLength'),
  pattern: readPattern,
  format: (value, place) => ({ format: readName<FormatName>(value, formatNames, place) }),
  minimum: bound('minimum'),
  maximum: bound('maximum'),
  exclusiveMinimum: bound('exclusiveMinimum'),
  exclusiveMaximum: bound('exclusiveMaximum'),
  minItems: count('minItems'),
  maxItems: count('maxItems'),
  uniqueItems: (value, place) =>
    typeof value === 'boolean' ? { uniqueItems: value } : place.refuse('must be true or false'),
  minProperties: count('minProperties'),
  maxProperties: count('maxProperties'),
  required: readRequired,
  default: (value) => ({ default: value }),
  'x-ref': readReference,
  'x-set': (value, place) => ({ serverValue: readName(value, serverValues, place) }),
};

/** Both of a schema hold: `enum` and `const`. */
export const merge = (parts: readonly Partial<ValueSchema>[]): ValueSchema => {
  const allowed = parts.flatMap((part) => part.allowed ?? []);
  return Object.assign({}, ...parts, allowed.length > 0 ? { allowed } : {}) as ValueSchema;
};

export const isSchemaLike = (value: unknown): value is Record<string, unknown> | boolean =>
  typeof value === 'boolean' || isObject(value);
