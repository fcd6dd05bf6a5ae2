import {
  compareTexts,
  equal,
  type Fields,
  isObject,
  isPosition,
  type Value,
} from '../../values.ts';

interface Found {
  value: Value;
  /** An array stands for its elements too, unless the last step was a position. */
  spreads: boolean;
}

const getField = (value: Value, name: string): Value =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const valuesAt = (value: Value, path: readonly string[]): Found[] => {
  const [segment, ...rest] = path;
  if (segment === undefined) return [{ value, spreads: true }];
  if (!Array.isArray(value)) return valuesAt(getField(value, segment), rest);
  const throughObjects = value.flatMap((element) =>
    isObject(element) && (!isPosition(segment) || Object.hasOwn(element, segment))
      ? valuesAt(getField(element, segment), rest)
      : [],
  );
  if (!isPosition(segment) || Number(segment) >= value.length) return throughObjects;
  const element = value[Number(segment)];
  const there = rest.length > 0 ? valuesAt(element, rest) : [{ value: element, spreads: false }];
  return [...throughObjects, ...there];
};

const compare = (a: Value, b: Value): number =>
  typeof a !== typeof b
    ? Number.NaN
    : typeof a === 'string'
      ? compareTexts(a, String(b))
      : Number(a) - Number(b);

/** Unicode folds more than these. */
const fold = (text: string): string => {
  if (/[^\0-\x7f]/.test(text)) throw new Error('left to the server');
  return text.toLowerCase();
};

const onTexts =
  (test: (text: string, part: string) => boolean) =>
  (value: Value, part: Value, ignoresCase: boolean): boolean =>
    typeof value === 'string' &&
    (ignoresCase ? test(fold(value), fold(String(part))) : test(value, String(part)));

/** Of one value, or one element of a list. */
const tests: Readonly<Record<string, (value: Value, operand: Value, ic: boolean) => boolean>> = {
  $eq: equal,
  $in: (value, list) => (list as Value[]).some((item) => equal(value, item)),
  $gt: (value, operand) => compare(value, operand) > 0,
  $gte: (value, operand) => compare(value, operand) >= 0,
  $lt: (value, operand) => compare(value, operand) < 0,
  $lte: (value, operand) => compare(value, operand) <= 0,
  $contains: onTexts((text, part) => text.includes(part)),
  $startsWith: onTexts((text, part) => text.startsWith(part)),
  $endsWith: onTexts((text, part) => text.endsWith(part)),
};

/** Times are compared as such, however they are written. */
const asTime = (value: Value): Value =>
  typeof value === 'string' ? Date.parse(value) : Array.isArray(value) ? value.map(asTime) : value;

const isTime = (field: string) => field === 'createdAt' || field === 'updatedAt';

const passes = (record: Fields, field: string, operators: Fields): boolean => {
  const found = valuesAt(record, field.split('.')).map(({ value, spreads }) => ({
    value: isTime(field) ? asTime(value) : value,
    spreads,
  }));
  const some = (name: string, given: Value): boolean => {
    const test = tests[name];
    if (test === undefined) throw new Error('left to the server');
    const operand = isTime(field) ? asTime(given) : given;
    const alone = (value: Value) => test(value ?? null, operand, operators.$options === 'i');
    return found.some(
      ({ value, spreads }) =>
        alone(value) || (spreads && Array.isArray(value) && value.some(alone)),
    );
  };
  const holds = (name: string, operand: Value): boolean => {
    switch (name) {
      case '$options':
        return true;
      case '$ne':
        return !some('$eq', operand);
      case '$nin':
        return !some('$in', operand);
      case '$all':
        return (
          (operand as Value[]).length > 0 && (operand as Value[]).every((item) => some('$eq', item))
        );
      case '$not':
        return !passes(record, field, operand as Fields);
      case '$exists':
        return found.some(({ value }) => value !== undefined) === operand;
      case '$size':
        return found.some(({ value }) => Array.isArray(value) && value.length === operand);
      default:
        return some(name, operand);
    }
  };
  return Object.entries(operators).every(([name, operand]) => holds(name, operand));
};

const holdsAll = (record: Fields, where: Fields): boolean =>
  Object.entries(where).every(([name, operand]) => {
    const parts = operand as Fields[];
    if (name === '$and') return parts.every((part) => holdsAll(record, part));
    if (name === '$or') return parts.some((part) => holdsAll(record, part));
    if (name === '$nor') return !parts.some((part) => holdsAll(record, part));
    const isTest = isObject(operand) && Object.keys(operand).some((key) => key.startsWith('$'));
    return passes(record, name, isTest ? operand : { $eq: operand });
  });

/** Whether a record passes a filter, as the server has it; undefined where only that knows. */
export const matches = (where: Fields, record: Fields): boolean | undefined => {
  try {
    return holdsAll(record, where);
  } catch {
    return undefined;
  }
};
