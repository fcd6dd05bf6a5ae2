import { ApiError, type RecordSchema } from '@backlot/contract';
import { isSystemField, keyProblem } from '../fields.ts';
import { SchemaCheck } from './check.ts';
import { type CompiledSchema, isObject, type ValueSchema } from './compiled-schema.ts';
import { annotations, describeUnknown } from './keywords.ts';
import { ParsePlace } from './parse-place.ts';
import { isSchemaLike, merge, readers } from './readers.ts';

const draft = 'https://json-schema.org/draft/2020-12/schema';

/** A patch changes fields one by one: what a record as a whole has to be could not be told from it. */
const rootKeywords = ['type', 'properties', 'required', 'additionalProperties'];
/** Of memory: for a character of a schema, and for a step of a pattern. */
const textBytes = 10;
const stepBytes = 250;
/** They hold schemas. */
const nesting = ['properties', 'additionalProperties', 'items'];
const keywords = [...Object.keys(readers), ...nesting, ...annotations];

const checkKeyword = (keyword: string, value: unknown, place: ParsePlace): void => {
  const name = JSON.stringify(keyword.slice(0, 60));
  if (keyword === '$schema') {
    if (place.isRoot && value === draft) return;
    place.refuse(`has "$schema": only ${draft} holds, at the top`);
  }
  if (!keywords.includes(keyword))
    place.refuse(`has ${name}, which does not hold here`, describeUnknown(keyword, keywords));
  if (place.isRoot && ![...rootKeywords, ...annotations].includes(keyword))
    place.refuse(
      `has ${name}, which says nothing of a single field`,
      `At the top there are: ${rootKeywords.join(', ')}.`,
    );
};

const checkName = (name: string, place: ParsePlace): void => {
  const isOwn = place.isRoot && isSystemField(name);
  const problem = isOwn ? 'is the record’s own, and no field of its data' : keyProblem(name);
  if (problem) place.refuse(`names the field ${JSON.stringify(name.slice(0, 60))}: it ${problem}`);
};

const readProperties = (value: unknown, place: ParsePlace): Partial<ValueSchema> => {
  if (!isObject(value)) return place.refuse('.properties must be an object of schemas');
  const properties = new Map<string, ValueSchema>();
  for (const [name, schema] of Object.entries(value)) {
    checkName(name, place);
    properties.set(
      name,
      place.below(['properties', name], () => readSchema(schema, place)),
    );
  }
  const fillsBelow = [...properties.values()].some(
    (schema) => schema.fillsBelow || schema.default !== undefined,
  );
  return { properties, ...(fillsBelow && { fillsBelow }) };
};

const readKeyword = (keyword: string, value: unknown, place: ParsePlace): Partial<ValueSchema> => {
  if (keyword === 'properties') return readProperties(value, place);
  if (keyword === 'items' || keyword === 'additionalProperties')
    return { [keyword]: place.below([keyword], () => readSchema(value, place)) };
  const read = Object.hasOwn(readers, keyword) ? readers[keyword] : undefined;
  return read ? place.below([keyword], () => read(value, place)) : {};
};

const isText = ({ types }: ValueSchema) =>
  !types || [...types].every((type) => type === 'string' || type === 'null');

const checkTogether = (schema: ValueSchema, place: ParsePlace): void => {
  const { properties, required = [], additionalProperties, serverValue, ref } = schema;
  for (const name of place.isRoot ? required.filter(isSystemField) : []) checkName(name, place);
  if (additionalProperties?.isNever) {
    const unknown = required.find((name) => !properties?.has(name));
    if (unknown !== undefined)
      place.refuse(`requires ${JSON.stringify(unknown.slice(0, 60))}, which "properties" has not`);
  }
  if (ref !== undefined && !isText(schema))
    place.refuse('has "x-ref", which takes {"type": "string"}', 'Of a list it stands in "items".');
  if (serverValue !== undefined && schema.default !== undefined)
    place.refuse('has "x-set" and "default": one of them writes the field');
};

/** @throws ApiError where the default would be refused itself */
const checkDefault = (schema: ValueSchema, place: ParsePlace): void => {
  if (schema.default === undefined) return;
  const check = new SchemaCheck();
  check.value(schema, schema.default);
  const [problem] = check.problems;
  if (problem) place.refuse(`has a default that does not fit: it ${problem.message}`);
};

const readSchema = (given: unknown, place: ParsePlace): ValueSchema => {
  if (!isSchemaLike(given)) return place.refuse('must be a schema: an object, true or false');
  if (typeof given === 'boolean') return given ? {} : { isNever: true };
  const parts = Object.entries(given).map(([keyword, value]) => {
    checkKeyword(keyword, value, place);
    return readKeyword(keyword, value, place);
  });
  const schema = merge(parts);
  checkTogether(schema, place);
  checkDefault(schema, place);
  return schema.ref !== undefined && !schema.types
    ? { ...schema, types: new Set(['string']) }
    : schema;
};

/** Only of fields at the top the server knows whose they are. */
const hasServerValueBelow = (schema: ValueSchema): boolean => {
  const { properties, items, additionalProperties } = schema;
  const below = [...(properties?.values() ?? []), items, additionalProperties];
  return below.some((one) => one && (one.serverValue !== undefined || hasServerValueBelow(one)));
};

/**
 * @param given as JSON.parse made it; anything may be in it
 * @throws ApiError invalid_body that names the place, the keyword, and what is there instead
 */
export const parseSchema = (given: RecordSchema): CompiledSchema => {
  const place = new ParsePlace();
  const root = readSchema(given, place);
  if (root.types && !root.types.has('object'))
    throw new ApiError('invalid_body', 'schema.type must be "object": a record is one.');
  const fields = [...(root.properties ?? [])];
  const deep = fields.find(([, schema]) => hasServerValueBelow(schema));
  if (deep || (root.additionalProperties && root.additionalProperties.serverValue !== undefined))
    place.refuse('has "x-set" below another field: it stands at a field of the record itself');
  const serverFields = fields.flatMap(([name, { serverValue }]) =>
    serverValue === undefined ? [] : [[name, serverValue] as const],
  );
  const sizeBytes = textBytes * JSON.stringify(given).length + stepBytes * place.programSize;
  return { sizeBytes, root, serverFields };
};
