import { SchemaCheck } from '../../schema/check.ts';
import { isObject, type ValueSchema } from '../../schema/compiled-schema.ts';
import type { Patch } from '../patch.ts';

/** The schema of a field of the first level; undefined where it may be anything. */
const fieldSchema = (
  { properties, additionalProperties }: ValueSchema,
  field: string,
): ValueSchema | undefined => properties?.get(field) ?? additionalProperties;

/**
 * Whether a sum could leave the schema though the number that is there fits it. One that is missing counts as 0: then
 * the sum is what is added.
 */
const isOpen = (schema: ValueSchema, by: number): boolean => {
  const { allowed, types, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const isWhole = types?.has('integer') && !types.has('number');
  const hasTop = maximum !== undefined || exclusiveMaximum !== undefined;
  const hasBottom = minimum !== undefined || exclusiveMinimum !== undefined;
  if (allowed || (isWhole && !Number.isInteger(by)) || (by > 0 ? hasTop : hasBottom)) return true;
  const alone = new SchemaCheck();
  alone.value(schema, by);
  return alone.problems.length > 0;
};

/** The ids of records in objects that are merged: what is merged with them was looked at when it was written. */
const collectReferences = (check: SchemaCheck, schema: ValueSchema, value: unknown): void => {
  const given = new SchemaCheck();
  given.value(schema, value);
  check.references.push(...given.references);
};

/**
 * Looks at what a patch sets and removes. A patch replaces whole fields and no keyword is about several, so that this
 * says all of them but for sums and merged objects.
 * @returns the fields of these, as far as the record decides whether they fit
 */
export const checkPatch = (check: SchemaCheck, root: ValueSchema, patch: Patch): string[] => {
  const { value: given, unset, inc, isDeep } = patch;
  const open: string[] = [];
  const isRemoved = (field: string) =>
    unset.includes(field) || (isDeep && Object.hasOwn(given, field) && given[field] === null);
  check.missing(root, (field) => !isRemoved(field));
  for (const [field, value] of Object.entries(given)) {
    const schema = fieldSchema(root, field);
    if (!schema || isRemoved(field)) continue;
    if (!isDeep || !isObject(value) || schema.isNever) {
      check.fields(root, { [field]: value });
      continue;
    }
    collectReferences(check, schema, value);
    open.push(field);
  }
  for (const [field, by] of Object.entries(inc)) {
    const schema = fieldSchema(root, field);
    if (!schema) continue;
    if (schema.isNever) check.fields(root, { [field]: by });
    else if (isOpen(schema, by)) open.push(field);
  }
  return open;
};

/** What the platform itself writes into a record need not stand in its schema. */
export const withoutUndeclared = (
  { properties }: ValueSchema,
  patch: Patch,
  undeclared: readonly string[],
): Patch => {
  const left = Object.entries(patch.value).filter(
    ([field]) => !undeclared.includes(field) || properties?.has(field),
  );
  return { ...patch, value: Object.fromEntries(left) };
};
