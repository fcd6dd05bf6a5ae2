import type { FieldShape, FieldType } from '@backlot/contract';
import type { Document } from './sample.ts';

/** Of a collection; those that most records have come first. */
export const maxFields = 200;
/** An object with more names than this in the sample is a dictionary: its names are data. */
export const maxNestedNames = 50;
const maxLevels = 5;
/** Longer names are left out. */
export const maxNameLength = 100;

const maxEnumeration = 12;
/** A value of an enumeration comes back: so often on average. */
const minRepetitions = 3;
/** One word, no address, number or sentence. */
const word = /^\p{L}[\p{L}\p{N}_-]{0,31}$/u;

const fieldType = (value: unknown): FieldType => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'string' | 'number' | 'boolean' | 'object';
};

const listTypes = (values: readonly unknown[]): FieldType[] => {
  const counts = new Map<FieldType, number>();
  for (const value of values) {
    const type = fieldType(value);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([type]) => type);
};

/** Undefined where the strings are not an enumeration, as free text is not. */
export const findEnumeration = (values: readonly unknown[]): string[] | undefined => {
  const texts = values.filter((value) => typeof value === 'string');
  const distinct = new Set(texts);
  const isRepeated = texts.length >= distinct.size * minRepetitions;
  if (distinct.size === 0 || distinct.size > maxEnumeration || !isRepeated) return undefined;
  const all = [...distinct];
  return all.every((text) => word.test(text)) ? all.sort() : undefined;
};

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const round = (share: number) => Math.max(0.001, Math.round(share * 1000) / 1000);

/** The fields of these objects, each followed by those below it. */
const describeObjects = (objects: readonly Document[], prefix: string, level: number) => {
  const valuesByName = new Map<string, unknown[]>();
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      const values = valuesByName.get(name);
      if (values) values.push(value);
      else if (name.length <= maxNameLength) valuesByName.set(name, [value]);
    }
  }
  if (level > 1 && valuesByName.size > maxNestedNames) return [];
  return [...valuesByName]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .flatMap(([name, values]): FieldShape[] => {
      const path = prefix + name;
      const items = values.filter(Array.isArray).flat();
      const known = findEnumeration([...values, ...items]);
      const nested = [...values, ...items].filter(isDocument);
      const field = {
        path,
        types: listTypes(values),
        share: round(values.length / objects.length),
        ...(items.length > 0 && { itemTypes: listTypes(items) }),
        ...(known && { values: known }),
      };
      if (nested.length === 0 || level === maxLevels) return [field];
      return [field, ...describeObjects(nested, `${path}.`, level + 1)];
    });
};

/** What the documents have in common; see docs/api.md, "Shape". */
export const inferFields = (
  documents: readonly Document[],
): { fields: FieldShape[]; hasMoreFields: boolean } => {
  const fields = describeObjects(documents, '', 1);
  return { fields: fields.slice(0, maxFields), hasMoreFields: fields.length > maxFields };
};
