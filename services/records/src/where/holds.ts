import { isPosition } from '../fields.ts';
import type { Filter, Json, Test } from './filter.ts';
import { foldCase } from './fold-case.ts';

/**
 * Whether a document in memory passes a filter, as the SQL of it has it. It follows MongoDB's matcher
 * (src/mongo/db/matcher/path.cpp), but for one oddity: there `{"a.0.b":null}` finds {"a":[{"b":1}]}, because
 * the element has no field "0".
 * @param document with the record's own fields, of which times are epoch milliseconds
 */
export const holds = (filter: Filter, document: Json): boolean => {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((part) => holds(part, document));
    case 'or':
      return filter.filters.some((part) => holds(part, document));
    case 'not':
      return !holds(filter.filter, document);
    case 'test': {
      const find = filter.isWhole ? wholeValueAt : valuesAt;
      return find(document, filter.field.split('.')).some((found) => passes(found, filter.test));
    }
  }
};

/** A value at the end of a path; undefined where the field is missing. */
interface FoundValue {
  value: Json | undefined;
  /** An array stands for its elements too, unless the last step was a position or the test is of a whole. */
  spreads: boolean;
}

const valuesAt = (value: Json | undefined, path: string[]): FoundValue[] => {
  const [segment, ...rest] = path;
  if (segment === undefined) return [{ value, spreads: true }];
  if (!Array.isArray(value)) return valuesAt(getField(value, segment), rest);
  const throughObjects = value.flatMap((element) =>
    isObject(element) && (!isPosition(segment) || Object.hasOwn(element, segment))
      ? valuesAt(getField(element, segment), rest)
      : [],
  );
  const index = isPosition(segment) ? Number(segment) : Number.POSITIVE_INFINITY;
  if (index >= value.length) return throughObjects;
  const element = value[index];
  return [
    ...throughObjects,
    ...(rest.length === 0 ? [{ value: element, spreads: false }] : valuesAt(element, rest)),
  ];
};

/** None behind an array. */
const wholeValueAt = (value: Json | undefined, path: string[]): FoundValue[] => {
  const [segment, ...rest] = path;
  if (segment === undefined) return [{ value, spreads: false }];
  return Array.isArray(value) ? [] : wholeValueAt(getField(value, segment), rest);
};

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const getField = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const passes = ({ value, spreads }: FoundValue, test: Test): boolean => {
  switch (test.op) {
    case 'exists':
      return value !== undefined;
    case 'size':
      return Array.isArray(value) && value.length === test.length;
    default: {
      const elements = spreads && Array.isArray(value) ? value : [];
      return [...elements, value ?? null].some((item) => passesAlone(item, test));
    }
  }
};

const passesAlone = (value: Json, test: Exclude<Test, { op: 'exists' | 'size' }>): boolean => {
  switch (test.op) {
    case 'eq':
      return equal(value, test.value);
    case 'in':
      return test.values.some((item) => equal(value, item));
    case 'compare': {
      if (typeof value !== typeof test.value) return false;
      const difference = compare(value, test.value);
      return {
        '>': difference > 0,
        '>=': difference >= 0,
        '<': difference < 0,
        '<=': difference <= 0,
      }[test.sign];
    }
    case 'text': {
      if (typeof value !== 'string') return false;
      const fold = (text: string) => (test.ignoreCase ? foldCase(text) : text);
      const [text, part] = [fold(value), fold(test.text)];
      return {
        contains: text.includes(part),
        startsWith: text.startsWith(part),
        endsWith: text.endsWith(part),
      }[test.match];
    }
  }
};

const compare = (a: Json, b: Json): number =>
  typeof a === 'string'
    ? Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
    : Number(a) - Number(b);

/** The order of keys does not count, as jsonb does not keep it. */
const equal = (a: Json, b: Json): boolean => {
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => equal(item, b[i] ?? null))
    );
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null))
  );
};
