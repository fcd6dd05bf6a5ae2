import { isSystemField } from '../fields.ts';
import type { Budget } from './budget.ts';
import type { Filter, Json, Sign, Test, TextMatch } from './filter.ts';
import { checkOperand, instantOf, isObject, listOf, quoted, refuse } from './operands.ts';

const signs: Record<string, Sign> = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' };
const textMatches: Record<string, TextMatch> = {
  $contains: 'contains',
  $startsWith: 'startsWith',
  $endsWith: 'endsWith',
};

const isDate = (field: string) => field === 'createdAt' || field === 'updatedAt';

/** Reads what stands under a field: a value to equal, or an object of operators. */
export const parseCondition = (
  field: string,
  value: Json,
  depth: number,
  budget: Budget,
): Filter => {
  if (Array.isArray(value)) {
    return refuse(
      `${quoted(field)} is given a list; use {"$in":[…]} for any of these values or {"$eq":[…]} for this very list.`,
    );
  }
  const keys = isObject(value) ? Object.keys(value) : [];
  const operators = keys.filter((key) => key.startsWith('$'));
  if (operators.length === 0) return parseOperator(field, '$eq', value, undefined, depth, budget);
  if (operators.length < keys.length) {
    return refuse(
      `${quoted(field)} mixes operators with fields; name a nested field with dots, as in "a.b".`,
    );
  }
  return parseOperators(field, value as { [key: string]: Json }, depth, budget);
};

const parseOperators = (
  field: string,
  { $options: options, ...operators }: { [key: string]: Json },
  depth: number,
  budget: Budget,
): Filter => {
  const names = Object.keys(operators);
  if (options !== undefined && !names.some((name) => name in textMatches)) {
    return refuse(
      `${quoted(field)}: "$options" stands beside $contains, $startsWith or $endsWith.`,
    );
  }
  if (options !== undefined && options !== 'i') {
    return refuse(`${quoted(field)}: the only "$options" is "i".`);
  }
  const filters = names.map((name) =>
    parseOperator(field, name, operators[name] ?? null, options, depth, budget),
  );
  return filters.length === 1 && filters[0] ? filters[0] : { kind: 'and', filters };
};

const parseOperator = (
  field: string,
  name: string,
  operand: Json,
  options: Json | undefined,
  depth: number,
  budget: Budget,
): Filter => {
  const place = `${quoted(field)}: "${name.slice(0, 60)}"`;
  if (name === '$not') return parseNot(field, operand, place, depth + 1, budget);
  budget.spendCondition();
  const test = (each: Test): Filter => ({ kind: 'test', field, test: each });
  const equal = (value: Json): Filter => test({ op: 'eq', value: comparable(field, value, place) });
  const oneOf = (): Filter =>
    test({
      op: 'in',
      values: listOf(operand, place).map((each) => comparable(field, each, place)),
    });
  switch (name) {
    case '$eq':
      return equal(operand);
    case '$ne':
      return { kind: 'not', filter: equal(operand) };
    case '$in':
      return oneOf();
    case '$nin':
      return { kind: 'not', filter: oneOf() };
    case '$all': {
      const filters = listOf(operand, place).map(equal);
      return filters.length === 0 ? { kind: 'or', filters } : { kind: 'and', filters };
    }
    case '$exists':
      if (typeof operand !== 'boolean') return refuse(`${place} needs true or false.`);
      return operand ? test({ op: 'exists' }) : { kind: 'not', filter: test({ op: 'exists' }) };
    case '$size':
      if (typeof operand !== 'number' || !Number.isSafeInteger(operand) || operand < 0) {
        return refuse(`${place} needs a whole number of 0 or more.`);
      }
      return test({ op: 'size', length: Math.min(operand, 2 ** 31 - 1) });
    default:
      return test(parseComparison(field, name, operand, options, place));
  }
};

/** Equality on a date means the instant, however it is written. */
const comparable = (field: string, value: Json, place: string): Json => {
  if (isDate(field) && value !== null) return instantOf(value, place);
  checkOperand(value, place);
  return value;
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
    if (isDate(field)) return { op: 'compare', sign, value: instantOf(operand, place) };
    if (operand === null || typeof operand === 'object') {
      return refuse(`${place} needs a number, a text, true or false.`);
    }
    if (isSystemField(field) && typeof operand !== 'string')
      return refuse(`${place} needs a text.`);
    checkOperand(operand, place);
    return { op: 'compare', sign, value: operand };
  }
  const match = Object.hasOwn(textMatches, name) ? textMatches[name] : undefined;
  if (!match) return refuse(`${quoted(field)}: ${quoted(name)} is not an operator.`);
  if (typeof operand !== 'string') return refuse(`${place} needs a text.`);
  checkOperand(operand, place);
  return { op: 'text', match, text: operand, ignoreCase: options === 'i' };
};

const parseNot = (
  field: string,
  operand: Json,
  place: string,
  depth: number,
  budget: Budget,
): Filter => {
  budget.checkNesting(depth);
  const names = isObject(operand) ? Object.keys(operand) : [];
  if (names.length === 0 || !names.every((name) => name.startsWith('$'))) {
    return refuse(`${place} needs an object of operators, as in {"$not":{"$gt":5}}.`);
  }
  return {
    kind: 'not',
    filter: parseOperators(field, operand as { [key: string]: Json }, depth, budget),
  };
};
