import type { Problem } from '@backlot/contract';
import {
  canonicalJson,
  isObject,
  type SchemaType,
  typeName,
  type ValueSchema,
} from './compiled-schema.ts';
import { describeFormat, fitsFormat } from './formats.ts';
import { messages } from './messages.ts';
import { formatPath, maxProblems } from './problems.ts';

/** A value that has to be the id of a record. */
export interface Reference {
  collection: string;
  id: string;
  path: string;
  /** Of a batch, that names it. */
  operation: string | undefined;
}

type Data = Readonly<Record<string, unknown>>;

/** Equal for equal values alone: no text of a record has NUL. */
const toKey = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? `\0${canonicalJson(value)}` : value;

const uuid = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/** Steps of patterns in one call, however many fields have one. */
export const patternSteps = 100_000;
/** For each operation of a larger batch. */
const operationSteps = 10_000;

/** Unicode characters, of which a string has no more than its length and no less than half of it. */
const hasAtLeast = (text: string, least: number) =>
  text.length >= least && (text.length >= 2 * least || [...text].length >= least);
const hasAtMost = (text: string, most: number) =>
  text.length <= most || (text.length <= 2 * most && [...text].length <= most);

const isOfType = (value: unknown, types: ReadonlySet<SchemaType>): boolean => {
  const name = typeName(value);
  return types.has(name) || (types.has('integer') && Number.isInteger(value));
};

/** Looks at values by their schemas, and keeps what does not fit. One serves for all of a call. */
export class SchemaCheck {
  readonly problems: Problem[] = [];
  readonly references: Reference[] = [];
  /** Of a batch, that is looked at. */
  operation: string | undefined;
  readonly #path: (string | number)[] = [];
  #stepsLeft: number;

  /** @param operations of the call, at most */
  constructor({ operation, operations = 1 }: { operation?: string; operations?: number } = {}) {
    this.operation = operation;
    this.#stepsLeft = Math.max(patternSteps, operations * operationSteps);
  }

  /** Of patterns. */
  get stepsLeft(): number {
    return this.#stepsLeft;
  }

  get isFull(): boolean {
    return this.problems.length >= maxProblems;
  }

  /** The fields that are given, each by itself. */
  fields(schema: ValueSchema, data: Data): void {
    for (const name of Object.keys(data)) this.#field(schema, name, data[name]);
  }

  /** Fields that have to be there, and are not. */
  missing({ required = [] }: ValueSchema, has: (field: string) => boolean): void {
    for (const name of required) if (!has(name)) this.add('required', messages.required(), name);
  }

  value(schema: ValueSchema, value: unknown): void {
    if (schema.isNever) {
      this.add('type', messages.never());
      return;
    }
    if (schema.types && !isOfType(value, schema.types)) {
      this.add('type', messages.type(schema.types));
      return;
    }
    if (schema.allowed) this.#allowed(schema.allowed, value);
    if (typeof value === 'string') this.#text(schema, value);
    else if (typeof value === 'number') this.#number(schema, value);
    else if (Array.isArray(value)) this.#list(schema, value);
    else if (isObject(value)) this.#object(schema, value);
  }

  /** @param field below the value that is looked at */
  add(rule: string, message: string, ...field: string[]): void {
    const { operation } = this;
    if (!this.isFull)
      this.addAt({ path: formatPath([...this.#path, ...field]), operation }, rule, message);
  }

  addAt(place: Pick<Reference, 'path' | 'operation'>, rule: string, message: string): void {
    const { path, operation } = place;
    if (this.isFull) return;
    const problem = { path, rule, message };
    this.problems.push(operation === undefined ? problem : { operation, ...problem });
  }

  #allowed(all: NonNullable<ValueSchema['allowed']>, value: unknown): void {
    const isPlain = typeof value !== 'object' || value === null;
    for (const allowed of all) {
      const isIn = isPlain
        ? allowed.plain.has(value)
        : allowed.others.size > 0 && allowed.others.has(canonicalJson(value));
      if (!isIn) this.add(allowed.rule, messages.allowed(allowed));
    }
  }

  #text(schema: ValueSchema, text: string): void {
    const { minLength, maxLength, pattern, format, ref } = schema;
    if (minLength !== undefined && !hasAtLeast(text, minLength))
      this.add('minLength', messages.minLength(minLength));
    if (maxLength !== undefined && !hasAtMost(text, maxLength)) {
      this.add('maxLength', messages.maxLength(maxLength));
      return;
    }
    if (format && !fitsFormat(format, text))
      this.add('format', messages.format(describeFormat(format)));
    if (pattern) this.#pattern(pattern, text);
    if (ref === undefined) return;
    if (!uuid.test(text)) this.add('x-ref', messages.ref(ref));
    else
      this.references.push({
        collection: ref,
        id: text.toLowerCase(),
        path: formatPath(this.#path),
        operation: this.operation,
      });
  }

  #pattern(pattern: NonNullable<ValueSchema['pattern']>, text: string): void {
    this.#stepsLeft -= (text.length + 1) * pattern.size;
    if (this.#stepsLeft < 0) this.add('pattern', messages.tooLong());
    else if (!pattern.isIn(text)) this.add('pattern', messages.pattern(pattern.source));
  }

  #number(schema: ValueSchema, value: number): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
    if (minimum !== undefined && value < minimum) this.add('minimum', messages.minimum(minimum));
    if (maximum !== undefined && value > maximum) this.add('maximum', messages.maximum(maximum));
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      this.add('exclusiveMinimum', messages.exclusiveMinimum(exclusiveMinimum));
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
      this.add('exclusiveMaximum', messages.exclusiveMaximum(exclusiveMaximum));
  }

  #list(schema: ValueSchema, list: readonly unknown[]): void {
    const { items, minItems, maxItems, uniqueItems } = schema;
    if (minItems !== undefined && list.length < minItems)
      this.add('minItems', messages.minItems(minItems));
    if (maxItems !== undefined && list.length > maxItems) {
      this.add('maxItems', messages.maxItems(maxItems));
      return;
    }
    if (uniqueItems && new Set(list.map(toKey)).size < list.length)
      this.add('uniqueItems', messages.uniqueItems());
    if (!items) return;
    for (let i = 0; i < list.length && !this.isFull; i++) {
      this.#path.push(i);
      this.value(items, list[i]);
      this.#path.pop();
    }
  }

  #object(schema: ValueSchema, object: Data): void {
    const { minProperties, maxProperties, properties, additionalProperties, required } = schema;
    if (minProperties !== undefined || maxProperties !== undefined) {
      const count = Object.keys(object).length;
      if (minProperties !== undefined && count < minProperties)
        this.add('minProperties', messages.minProperties(minProperties));
      if (maxProperties !== undefined && count > maxProperties)
        this.add('maxProperties', messages.maxProperties(maxProperties));
    }
    if (properties || additionalProperties) this.fields(schema, object);
    if (required) this.missing(schema, (name) => Object.hasOwn(object, name));
  }

  #field({ properties, additionalProperties }: ValueSchema, name: string, value: unknown): void {
    const field = properties?.get(name) ?? additionalProperties;
    if (!field || this.isFull) return;
    if (field.isNever && !properties?.has(name)) {
      this.add('additionalProperties', messages.additionalProperties(), name);
      return;
    }
    this.#path.push(name);
    this.value(field, value);
    this.#path.pop();
  }
}
