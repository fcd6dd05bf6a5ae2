import { isOptional, listTypes, listValues, type SchemaPart } from './schema-fields.ts';

const dictionary = '{ [name: string]: unknown }';
const maxNoteLength = 200;

export const asKey = (name: string) =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

const ofObject = (schema: SchemaPart, indent: string): string => {
  const { properties = {}, additionalProperties } = schema;
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, field]) => {
    const mark = isOptional(schema, name, field) ? '?' : '';
    return `${describeNote(field, inner)}${inner}${asKey(name)}${mark}: ${typeFromSchema(field, inner)};`;
  });
  if (lines.length > 0) return `{\n${lines.join('\n')}\n${indent}}`;
  return typeof additionalProperties === 'object'
    ? `{ [name: string]: ${typeFromSchema(additionalProperties, indent)} }`
    : dictionary;
};

const ofType = (type: string, schema: SchemaPart, indent: string): string => {
  if (type === 'integer') return 'number';
  if (type === 'object') return ofObject(schema, indent);
  if (type !== 'array') return type;
  return `(${typeFromSchema(schema.items ?? true, indent)})[]`;
};

/** As TypeScript. A field that the server writes, or that has a default, may be left out. */
export const typeFromSchema = (schema: SchemaPart | boolean, indent: string): string => {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const values = listValues(schema);
  if (values) return values.map(asLiteral).join(' | ');
  const types = listTypes(schema).map((type) => ofType(type, schema, indent));
  return types.length > 0 ? [...new Set(types)].join(' | ') : 'unknown';
};

const asLiteral = (value: unknown): string =>
  typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value);

/** What the owner says of a field, and what the platform does with it, as a comment above it. */
const describeNote = (field: SchemaPart | boolean, indent: string): string => {
  if (typeof field === 'boolean') return '';
  const notes = [
    field.title,
    field.description,
    field['x-ref'] && `Id of a record of ${field['x-ref']}.`,
    field['x-set'] && 'Written by the server.',
  ].filter((note) => typeof note === 'string' && note !== '');
  if (notes.length === 0) return '';
  const text = notes.join(' ').replace(/\s+/g, ' ').replaceAll('*/', '* /').slice(0, maxNoteLength);
  return `${indent}/** ${text} */\n`;
};
