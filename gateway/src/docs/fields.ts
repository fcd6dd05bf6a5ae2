import { Html, html } from '@backlot/http';
import { renderText } from './code.ts';
import type { Schema } from './operations.ts';

export type Schemas = Readonly<Record<string, Schema>>;

const maxDepth = 4;
/** Longer ones say less than they hide. */
const maxPatternLength = 48;

const nameIn = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1);

const resolve = (schema: Schema, schemas: Schemas): Schema => {
  const name = nameIn(schema);
  return name === undefined ? schema : (schemas[name] ?? {});
};

const choices = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf;

const asValue = (value: unknown) => JSON.stringify(value);

/** `1`, `true` and nothing mean the same, `0` and `false` too. */
export const isSwitch = ({ enum: values = [] }: Schema): boolean =>
  values.includes('1') && values.includes('true');

/** In words: `array of string`, `"a" or "b"`, `string or null`. */
const describeType = (schema: Schema): string => {
  const name = nameIn(schema);
  if (name) return name;
  if (schema.const !== undefined) return asValue(schema.const);
  if (isSwitch(schema)) return '1 or 0';
  if (schema.enum) return schema.enum.map(asValue).join(' or ');
  const several = choices(schema);
  if (several) return [...new Set(several.map(describeType))].join(' or ');
  if (schema.type === 'array')
    return `array of ${describeType(schema.items ?? {}).replace(/^object$/, 'objects')}`;
  const types = Array.isArray(schema.type) ? schema.type.join(' or ') : schema.type;
  if (types === undefined) return 'any value';
  const { additionalProperties } = schema;
  if (types === 'object' && typeof additionalProperties === 'object' && !schema.properties)
    return Object.keys(additionalProperties).length > 0
      ? `object of ${describeType(additionalProperties).replace(/^object$/, 'objects')}`
      : 'object';
  return `${types}${schema.format ? ` (${schema.format})` : ''}`;
};

const range = (least: number | undefined, most: number | undefined, what: string): string[] => {
  const from =
    least === undefined || Math.abs(least) >= Number.MAX_SAFE_INTEGER ? undefined : least;
  const to = most === undefined || Math.abs(most) >= Number.MAX_SAFE_INTEGER ? undefined : most;
  const show = (value: number) => value.toLocaleString('en');
  if (from !== undefined && to !== undefined)
    return [from === to ? `${show(to)}${what}` : `${show(from)} to ${show(to)}${what}`];
  if (to !== undefined) return [`at most ${show(to)}${what}`];
  return from !== undefined && (from !== 0 || what === '') ? [`at least ${show(from)}${what}`] : [];
};

const describeBounds = (schema: Schema): string => {
  const { pattern, format } = schema;
  const showsPattern = pattern && !format && pattern.length <= maxPatternLength;
  return [
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...range(schema.minimum, schema.maximum, ''),
    ...(schema.default === undefined ? [] : [`${asValue(schema.default)} unless stated`]),
    ...(showsPattern ? [`fits ${pattern}`] : []),
  ].join('; ');
};

/** What a reader has to know to go a level deeper: an object's own fields, or those of an array's items. */
const findObject = (schema: Schema, schemas: Schemas): Schema | undefined => {
  const resolved = resolve(schema, schemas);
  if (resolved.properties) return resolved;
  if (resolved.type === 'array') return findObject(resolved.items ?? {}, schemas);
  const objects = (choices(resolved) ?? []).flatMap((one) => findObject(one, schemas) ?? []);
  if (objects.length > 0) return objects[0];
  const { additionalProperties } = resolved;
  return typeof additionalProperties === 'object'
    ? findObject(additionalProperties, schemas)
    : undefined;
};

/** Every object that may stand there, each with what it is called. */
const findObjects = (schema: Schema, schemas: Schemas): Schema[] => {
  const resolved = resolve(schema, schemas);
  const several = choices(resolved) ?? resolved.allOf;
  if (several) return several.flatMap((one) => findObjects(one, schemas));
  if (resolved.type === 'array') return findObjects(resolved.items ?? {}, schemas);
  const one = findObject(resolved, schemas);
  return one ? [one] : [];
};

export interface Field {
  name: string;
  schema: Schema;
  isRequired: boolean;
  description?: string | undefined;
}

const paragraphs = (text: string): Html => {
  const [first = '', ...lines] = text.split('\n- ');
  if (lines.length === 0) return html`<p>${renderText(text)}</p>`;
  const items = lines.map((line) => html`<li>${renderText(line)}</li>`);
  return html`<p>${renderText(first)}</p><ul>${items}</ul>`;
};

/** A list of names, each with its type, what it means, its bounds, and its own fields folded below. */
export const renderFields = (fields: readonly Field[], schemas: Schemas, depth = 0): Html => {
  const items = fields.map(({ name, schema, isRequired, description }) => {
    const text = description ?? schema.description;
    const bounds = describeBounds(schema);
    const below = depth < maxDepth ? findObjects(schema, schemas) : [];
    const nested = below.map(
      (object) =>
        html`<details><summary>Fields of <code>${name}</code></summary>${renderObject(object, schemas, depth + 1)}</details>`,
    );
    return html`<li><div class="field-head"><code>${name}</code> <span class="field-type">${describeType(schema)}</span>${isRequired ? html` <span class="badge accent">required</span>` : new Html('')}</div>${text ? paragraphs(text) : new Html('')}${bounds ? html`<p class="field-bounds">${bounds}</p>` : new Html('')}${nested}</li>`;
  });
  return html`<ul class="fields">${items}</ul>`;
};

const renderObject = (schema: Schema, schemas: Schemas, depth: number): Html => {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: required.includes(name),
  }));
  return renderFields(fields, schemas, depth);
};

/** The fields of a body or an answer; of each where it may be one of several. */
export const renderSchema = (schema: Schema, schemas: Schemas): Html => {
  const objects = findObjects(schema, schemas).filter(({ properties }) => properties);
  if (objects.length === 0) return html`<p>${describeType(resolve(schema, schemas))}</p>`;
  const parts = objects.map((object, index) => {
    const rendered = renderObject(object, schemas, 0);
    return index === 0 ? rendered : html`<p class="field-or">or</p>${rendered}`;
  });
  return html`${parts}`;
};

/** Names of all fields, for those who search. */
export const fieldNames = (schema: Schema | undefined, schemas: Schemas): string[] =>
  schema
    ? findObjects(schema, schemas).flatMap(({ properties = {} }) => Object.keys(properties))
    : [];
