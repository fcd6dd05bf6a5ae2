import { pathProblem } from '../fields.ts';
import { Budget } from './budget.ts';
import { parseCondition } from './condition.ts';
import { everything, type Filter, type Json } from './filter.ts';
import { isObject, quoted, refuse } from './operands.ts';

/** Contract section 4. */
const maxBytes = 8 * 1024;
/**
 * Reads the query parameter `where`.
 * @throws ApiError invalid_where, naming what is wrong
 */
export const parseWhere = (text: string | undefined): Filter => {
  if (text === undefined) return everything;
  if (Buffer.byteLength(text) > maxBytes) refuse(`is longer than ${maxBytes} bytes.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return refuse('is not valid JSON.');
  }
  return parseFilter(value, 'it', 0, new Budget());
};

const parseFilter = (value: Json, place: string, depth: number, budget: Budget): Filter => {
  if (!isObject(value)) return refuse(`${place} has to be an object such as {"field":"value"}.`);
  const filters = Object.entries(value).map(([key, operand]): Filter => {
    if (key === '$and' || key === '$or' || key === '$nor') {
      return parseLogical(key, operand, depth + 1, budget);
    }
    if (key.startsWith('$')) return refuseOperator(key);
    const problem = pathProblem(key);
    if (problem) refuse(`the field ${quoted(key)} ${problem}.`);
    return parseCondition(key, operand, depth, budget);
  });
  return filters.length === 1 && filters[0] ? filters[0] : { kind: 'and', filters };
};

const refuseOperator = (key: string): never =>
  refuse(
    key === '$not'
      ? '"$not" stands under a field, as in {"age":{"$not":{"$gt":5}}}; use "$nor" around whole filters.'
      : `${quoted(key)} is not an operator that can stand here.`,
  );

const parseLogical = (
  key: '$and' | '$or' | '$nor',
  value: Json,
  depth: number,
  budget: Budget,
): Filter => {
  budget.checkNesting(depth);
  if (!Array.isArray(value) || value.length === 0) {
    return refuse(`"${key}" needs a list of at least one filter.`);
  }
  const filters = value.map((each) => parseFilter(each, `each item of "${key}"`, depth, budget));
  if (key === '$and') return { kind: 'and', filters };
  const either: Filter = { kind: 'or', filters };
  return key === '$or' ? either : { kind: 'not', filter: either };
};
