import type { RecordSchema } from '@backlot/contract';
import { isObject, type SchemaType, typeName } from '../schema/compiled-schema.ts';
import { type FormatName, fitsFormat } from '../schema/formats.ts';
import { findEnumeration, maxFields, maxNameLength, maxNestedNames } from './infer-fields.ts';
import type { Document } from './sample.ts';

/** Objects below are any objects. */
const maxLevels = 5;
/** Of a text: all that are told by their looks. An address is a text as well as a URI. */
const toldFormats: readonly FormatName[] = ['uuid', 'date-time', 'date', 'email'];

/** Room for twice of what there is, in round numbers. */
const roomFor = (longest: number): number => {
  let room = 100;
  while (room < 2 * longest) room *= 10;
  return room;
};

const listTypes = (values: readonly unknown[]): SchemaType[] => {
  const types = new Set(
    values.map((value) => (Number.isInteger(value) ? 'integer' : typeName(value))),
  );
  if (types.has('number')) types.delete('integer');
  return [...types];
};

const describeTexts = (texts: readonly string[], values: readonly unknown[]): RecordSchema => {
  const known = texts.length === values.length ? findEnumeration(texts) : undefined;
  if (known) return { enum: known };
  const format = toldFormats.find((name) => texts.every((text) => fitsFormat(name, text)));
  if (format) return { format };
  return { maxLength: roomFor(Math.max(...texts.map((text) => text.length))) };
};

const describeValues = (values: readonly unknown[], level: number): RecordSchema => {
  const types = listTypes(values);
  const texts = values.filter((value) => typeof value === 'string');
  const objects = values.filter(isObject);
  const items = values.filter(Array.isArray).flat();
  return {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(texts.length > 0 && describeTexts(texts, values)),
    ...(objects.length > 0 && level < maxLevels && describeObjects(objects, level + 1)),
    ...(items.length > 0 && { items: describeValues(items, level) }),
  };
};

const describeObjects = (objects: readonly Document[], level: number): RecordSchema => {
  const valuesByName = new Map<string, unknown[]>();
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      const values = valuesByName.get(name);
      if (values) values.push(value);
      else valuesByName.set(name, [value]);
    }
  }
  // Names of a dictionary are data.
  if (valuesByName.size > (level > 1 ? maxNestedNames : maxFields)) return {};
  if ([...valuesByName.keys()].some((name) => name.length > maxNameLength)) return {};
  const required = [...valuesByName]
    .filter(([, values]) => values.length === objects.length)
    .map(([name]) => name);
  const properties = Object.fromEntries(
    [...valuesByName].map(([name, values]) => [name, describeValues(values, level)]),
  );
  return {
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
};

/** A schema that all of these documents fit, for an owner to look over. */
export const proposeSchema = (documents: readonly Document[]): RecordSchema =>
  documents.length === 0
    ? { type: 'object', properties: {} }
    : { type: 'object', ...describeObjects(documents, 1) };
