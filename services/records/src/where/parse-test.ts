import { ApiError, isUuid } from '@backlot/contract';
import { isStorableText, isSystemField, maxDepth } from '../fields.ts';
import { parseTimestamp, type Timestamp } from '../timestamps.ts';
import type { ComparisonSign, Filter, Json, Test, TextMatch } from './filter.ts';

/** docs/api.md, "Filters". */
const maxListValues = 100;

const signs: Record<string, ComparisonSign> = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' };
const textMatches: Record<string, TextMatch> = {
  $contains: 'contains',
  $startsWith: 'startsWith',
  $endsWith: 'endsWith',
};
export const isTextOperator = (name: string): boolean => Object.hasOwn(textMatches, name);

/** What other query languages call them; in lower case, letters alone. */
const operatorNames: Record<string, string> = {
  $eq: 'eq equal equals is',
  $ne: 'ne neq notequal notequals isnot',
  $gt: 'gt greaterthan after',
  $gte: 'gte ge greaterthanorequal min',
  $lt: 'lt lessthan before',
  $lte: 'lte le lessthanorequal max',
  $in: 'in anyof oneof',
  $nin: 'nin notin noneof',
  $exists: 'exists isnull isset',
  $all: 'all containsall',
  $size: 'size length',
  $not: 'not',
  $contains: 'contains like ilike icontains regex search match matches includes substring text',
  $startsWith: 'startswith istartswith prefix beginswith',
  $endsWith: 'endswith iendswith suffix',
  $options: 'options',
};
const operatorByName = new Map(
  Object.entries(operatorNames).flatMap(([operator, names]) =>
    names.split(' ').map((name) => [name, operator] as const),
  ),
);

/** The operator that was meant by a name with or without `$`. */
export const nearestOperator = (name: string): string | undefined =>
  operatorByName.get(
    name
      .slice(0, 40)
      .toLowerCase()
      .replace(/[^a-z]/g, ''),
  );

const knownOperators =
  'Known: $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $exists, $all, $size, $not, and $contains, $startsWith, $endsWith, beside which "$options":"i" ignores case.';

export const refuse = (message: string): never => {
  throw new ApiError('invalid_where', `"where": ${message}`);
};

/** A client's text for a message, cut where it is long. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

export const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Refuses what no stored value can equal and what PostgreSQL can't store. */
const checkOperand = (value: Json, place: string, depth = 1): void => {
  if (typeof value === 'string' && !isStorableText(value)) {
    refuse(`${place} has a string with NUL or half a surrogate pair.`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    refuse(`${place} has a number that is too large.`);
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxDepth)
    refuse(`${place} is deeper than the ${maxDepth} levels that a record may have.`);
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) {
      if (!isStorableText(key)) refuse(`${place} has a key with NUL or half a surrogate pair.`);
      if (key.startsWith('$')) {
        refuse(
          `${place}: ${quoted(key)} is not allowed here; name a nested field with dots, as in "a.b".`,
        );
      }
    }
    checkOperand(item, place, depth + 1);
  }
};

const parseList = (value: Json, place: string): Json[] => {
  if (!Array.isArray(value)) return refuse(`${place} needs an array.`);
  if (value.length > maxListValues) refuse(`${place} has more than ${maxListValues} values.`);
  return value;
};

const parseDate = (value: Json, place: string): Timestamp => {
  const timestamp = typeof value === 'string' ? parseTimestamp(value) : undefined;
  return (
    timestamp ??
    refuse(`${place} needs a date in ISO 8601, such as "2026-01-31" or "2026-01-31T09:30:00Z".`)
  );
};

const isDate = (field: string) => field === 'createdAt' || field === 'updatedAt';

/** Columns and keys have ids in lower case. */
const lowerId = <Value extends Json>(field: string, value: Value): Value | string =>
  (field === 'id' || field === 'ownerId') && typeof value === 'string' && isUuid(value)
    ? value.toLowerCase()
    : value;

/** A date equals the same point in time, and an id the same id, however it is written. */
const parseEqualValue = (field: string, value: Json, place: string): Json => {
  if (isDate(field) && value !== null) return parseDate(value, place);
  checkOperand(value, place);
  return lowerId(field, value);
};

const refuseOperator = (field: string, name: string): never => {
  const nearest = nearestOperator(name);
  const question = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return refuse(
    `${quoted(field)}: ${quoted(name)} is not an operator.${question} ${knownOperators}`,
  );
};

const parseComparison = (
  field: string,
  name: string,
  operand: Json,
  options: Json | undefined,
  place: string,
): Test => {
  const sign = Object.hasOwn(signs, name) ? signs[name] : undefined;
  if (sign) {
    if (isDate(field)) return { op: 'compare', sign, value: parseDate(operand, place) };
    if (operand === null || typeof operand === 'object') {
      return refuse(`${place} needs a number, a string, true or false.`);
    }
    if (isSystemField(field) && typeof operand !== 'string')
      return refuse(`${place} needs a string.`);
    checkOperand(operand, place);
    return { op: 'compare', sign, value: lowerId(field, operand) };
  }
  const match = Object.hasOwn(textMatches, name) ? textMatches[name] : undefined;
  if (!match) return refuseOperator(field, name);
  if (typeof operand !== 'string') return refuse(`${place} needs a string.`);
  checkOperand(operand, place);
  return { op: 'text', match, text: operand, ignoreCase: options === 'i' };
};

/** An operator of a field with its operand. @param place as messages name it @throws ApiError invalid_where */
export const parseTest = (
  field: string,
  name: string,
  operand: Json,
  options: Json | undefined,
  place: string,
): Filter => {
  const filter = (test: Test): Filter => ({ kind: 'test', field, test });
  const value = (json: Json) => parseEqualValue(field, json, place);
  const equals = (json: Json) => filter({ op: 'eq', value: value(json) });
  const isIn = () => filter({ op: 'in', values: parseList(operand, place).map(value) });
  switch (name) {
    case '$eq':
      return equals(operand);
    case '$ne':
      return { kind: 'not', filter: equals(operand) };
    case '$in':
      return isIn();
    case '$nin':
      return { kind: 'not', filter: isIn() };
    case '$all': {
      const filters = parseList(operand, place).map(equals);
      return filters.length === 0 ? { kind: 'or', filters } : { kind: 'and', filters, isAll: true };
    }
    case '$exists':
      if (typeof operand !== 'boolean') return refuse(`${place} needs true or false.`);
      return operand ? filter({ op: 'exists' }) : { kind: 'not', filter: filter({ op: 'exists' }) };
    case '$size':
      if (typeof operand !== 'number' || !Number.isSafeInteger(operand) || operand < 0) {
        return refuse(`${place} needs a whole number of 0 or more.`);
      }
      return filter({ op: 'size', length: Math.min(operand, 2 ** 31 - 1) });
    default:
      return filter(parseComparison(field, name, operand, options, place));
  }
};
