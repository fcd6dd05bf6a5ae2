import { pathProblem } from '../fields.ts';
import type { Filter, Json } from './filter.ts';
import { isObject, isTextOperator, parseTest, quoted, refuse } from './parse-test.ts';

/** docs/api.md, "Filters". */
const maxBytes = 8 * 1024;
const maxNesting = 5;
const maxConditions = 50;
/** Values that fields are tested for, each times the levels of the field's path. */
const maxTestedValues = 500;

/**
 * Reads the query parameter `where`; without it every record matches.
 * @throws ApiError invalid_where, naming what is wrong
 */
export const parseWhere = (text: string | undefined): Filter => {
  if (text === undefined) return { kind: 'and', filters: [] };
  if (Buffer.byteLength(text) > maxBytes) refuse(`is longer than ${maxBytes} bytes.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return refuse('is not valid JSON; send what JSON.stringify makes of {"field":"value"}.');
  }
  return parseFilter(value);
};

/** The same of what has been parsed as JSON. @throws ApiError invalid_where */
export const parseFilter = (value: Json): Filter => new WhereParser().filter(value, 'it', 0);

const listOperators: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);

/** Reads one `where`. `depth` counts the logical operators around a value. */
class WhereParser {
  #conditions = 0;
  #testedValues = 0;

  filter(value: Json, place: string, depth: number): Filter {
    if (!isObject(value)) return refuse(`${place} has to be an object such as {"field":"value"}.`);
    const filters = Object.entries(value).map(([key, operand]): Filter => {
      if (key === '$and' || key === '$or' || key === '$nor') {
        return this.#logical(key, operand, depth + 1);
      }
      if (key.startsWith('$')) return refuseOperator(key);
      const problem = pathProblem(key);
      if (problem) refuse(`the field ${quoted(key)} ${problem}.`);
      return this.#field(key, operand, depth);
    });
    return joinFilters(filters);
  }

  #logical(key: '$and' | '$or' | '$nor', value: Json, depth: number): Filter {
    checkNesting(depth);
    if (!Array.isArray(value) || value.length === 0) {
      return refuse(`"${key}" needs an array of at least one filter.`);
    }
    const filters = value.map((item) => this.filter(item, `each item of "${key}"`, depth));
    if (key === '$and') return { kind: 'and', filters };
    const either: Filter = { kind: 'or', filters };
    return key === '$or' ? either : { kind: 'not', filter: either };
  }

  /** The value of a field: one to equal, or an object of operators. */
  #field(field: string, value: Json, depth: number): Filter {
    if (Array.isArray(value)) {
      if (/^(and|or|nor)$/i.test(field) && value.some(isObject)) {
        return refuse(`${quoted(field)} is no field; did you mean "$${field.toLowerCase()}"?`);
      }
      return refuse(
        `${quoted(field)} is an array; use {"$in":[…]} for any of these values or {"$eq":[…]} for exactly this array.`,
      );
    }
    const keys = isObject(value) ? Object.keys(value) : [];
    const operators = keys.filter((key) => key.startsWith('$'));
    if (operators.length === 0) return this.#operator(field, '$eq', value, undefined, depth);
    if (operators.length < keys.length) {
      return refuse(
        `${quoted(field)} mixes operators with fields; name a nested field with dots, as in "a.b".`,
      );
    }
    return this.#operators(field, value as { [key: string]: Json }, depth);
  }

  #operators(
    field: string,
    { $options: options, ...operators }: { [key: string]: Json },
    depth: number,
  ): Filter {
    const names = Object.keys(operators);
    if (options !== undefined && !names.some(isTextOperator)) {
      return refuse(
        `${quoted(field)}: "$options" goes beside $contains, $startsWith or $endsWith.`,
      );
    }
    if (options !== undefined && options !== 'i') {
      return refuse(`${quoted(field)}: the only "$options" is "i".`);
    }
    return joinFilters(
      names.map((name) => this.#operator(field, name, operators[name] ?? null, options, depth)),
    );
  }

  #operator(
    field: string,
    name: string,
    operand: Json,
    options: Json | undefined,
    depth: number,
  ): Filter {
    const place = `${quoted(field)}: "${name.slice(0, 60)}"`;
    if (name === '$not') return this.#not(field, operand, place, depth + 1);
    this.#conditions += 1;
    if (this.#conditions > maxConditions) refuse(`has more than ${maxConditions} conditions.`);
    const values = listOperators.has(name) && Array.isArray(operand) ? operand.length : 1;
    this.#testedValues += values * field.split('.').length;
    if (this.#testedValues > maxTestedValues) {
      refuse(
        `tests more than ${maxTestedValues} values up to ${place}; each value of a list counts, for each level of its path.`,
      );
    }
    return parseTest(field, name, operand, options, place);
  }

  #not(field: string, operand: Json, place: string, depth: number): Filter {
    checkNesting(depth);
    const names = isObject(operand) ? Object.keys(operand) : [];
    if (names.length === 0 || !names.every((name) => name.startsWith('$'))) {
      return refuse(`${place} needs an object of operators, as in {"$not":{"$gt":5}}.`);
    }
    const filter = this.#operators(field, operand as { [key: string]: Json }, depth);
    return { kind: 'not', filter };
  }
}

const joinFilters = (filters: Filter[]): Filter =>
  filters.length === 1 && filters[0] ? filters[0] : { kind: 'and', filters };

const checkNesting = (depth: number): void => {
  if (depth > maxNesting) refuse(`nests $and, $or, $nor and $not more than ${maxNesting} deep.`);
};

const refuseOperator = (key: string): never =>
  refuse(
    key === '$not'
      ? '"$not" goes under a field, as in {"age":{"$not":{"$gt":5}}}; use "$nor" around whole filters.'
      : `${quoted(key)} is not an operator for whole filters; these are $and, $or and $nor.`,
  );
