import type { AllowedValues, SchemaType } from './compiled-schema.ts';

const typeNames: Record<SchemaType, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const maxShownLength = 200;

const cut = (text: string) =>
  text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text;

/** As they stand behind the path of what does not fit. */
export const messages = {
  type: (types: Iterable<SchemaType>) =>
    `must be ${[...types].map((type) => typeNames[type]).join(' or ')}`,
  allowed: ({ shown }: AllowedValues) => `must be ${shown}`,
  minLength: (least: number) =>
    least === 1 ? 'must not be empty' : `must have at least ${least} characters`,
  maxLength: (most: number) => `may have at most ${most} characters`,
  pattern: (source: string) => `must match the pattern ${cut(source)}`,
  tooLong: () => 'is too long to be matched with its pattern',
  format: (what: string) => `must be ${what}`,
  minimum: (least: number) => `must be at least ${least}`,
  maximum: (most: number) => `may be at most ${most}`,
  exclusiveMinimum: (bound: number) => `must be more than ${bound}`,
  exclusiveMaximum: (bound: number) => `must be less than ${bound}`,
  minItems: (least: number) =>
    least === 1 ? 'must not be empty' : `must have at least ${least} elements`,
  maxItems: (most: number) => `may have at most ${most} elements`,
  uniqueItems: () => 'has an element twice',
  required: () => 'is missing',
  additionalProperties: () => 'is no field that there is here',
  minProperties: (least: number) => `must have at least ${least} fields`,
  maxProperties: (most: number) => `may have at most ${most} fields`,
  never: () => 'can not be there',
  tooManyReferences: (most: number) => `is one of more than ${most} ids that one call may hold`,
  ref: (collection: string) => `must be the id of a record of "${collection}"`,
};

/** `"open" or "done"`, as far as there is room. */
export const showValues = (values: readonly unknown[]): string =>
  cut(values.map((value) => JSON.stringify(value)).join(' or '));
