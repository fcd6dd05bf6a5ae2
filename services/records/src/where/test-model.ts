/**
 * For tests: what a filter means, on documents in memory and as plainly as possible. It follows
 * MongoDB's matcher (src/mongo/db/matcher/path.cpp), but for one oddity: there `{"a.0.b":null}` finds
 * {"a":[{"b":1}]}, because the element has no field "0".
 */
import { isPosition } from '../fields.ts';
import type { Filter, Json, Test } from './filter.ts';

export const holds = (filter: Filter, document: Json): boolean => {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => holds(each, document));
    case 'or':
      return filter.filters.some((each) => holds(each, document));
    case 'not':
      return !holds(filter.filter, document);
    case 'test':
      return reached(document, filter.field.split('.')).some((each) => passes(each, filter.test));
  }
};

/** A value at the end of a path; undefined where the field is missing. */
interface Reached {
  value: Json | undefined;
  /** An array stands for its elements too, unless the last step was a position. */
  spreads: boolean;
}

const reached = (value: Json | undefined, path: string[]): Reached[] => {
  const [segment, ...rest] = path;
  if (segment === undefined) return [{ value, spreads: true }];
  if (!Array.isArray(value)) return reached(fieldOf(value, segment), rest);
  const throughObjects = value.flatMap((element) =>
    isObject(element) && (!isPosition(segment) || Object.hasOwn(element, segment))
      ? reached(fieldOf(element, segment), rest)
      : [],
  );
  const index = isPosition(segment) ? Number(segment) : Number.POSITIVE_INFINITY;
  if (index >= value.length) return throughObjects;
  const element = value[index];
  return [
    ...throughObjects,
    ...(rest.length === 0 ? [{ value: element, spreads: false }] : reached(element, rest)),
  ];
};

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const passes = ({ value, spreads }: Reached, test: Test): boolean => {
  switch (test.op) {
    case 'exists':
      return value !== undefined;
    case 'size':
      return Array.isArray(value) && value.length === test.length;
    default: {
      const elements = spreads && Array.isArray(value) ? value : [];
      return [...elements, value ?? null].some((each) => passesAlone(each, test));
    }
  }
};

const passesAlone = (value: Json, test: Exclude<Test, { op: 'exists' | 'size' }>): boolean => {
  switch (test.op) {
    case 'eq':
      return equal(value, test.value);
    case 'in':
      return test.values.some((each) => equal(value, each));
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
      const fold = (text: string) => (test.ignoreCase ? text.toLowerCase() : text);
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
      a.every((each, i) => equal(each, b[i] ?? null))
    );
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null))
  );
};
