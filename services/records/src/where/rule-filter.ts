import { isSystemField } from '../fields.ts';
import { type Filter, fieldsIn, type Json, matchesMissing, type Test } from './filter.ts';
import { parseFilter } from './parse.ts';
import { quoted, refuse } from './parse-test.ts';

/** Who calls, as a rule's filter may name it. */
export interface CallerValues {
  userId: string | null;
  role: string;
}

/** docs/api.md, "Access". Operands that stand for something of the caller. */
const callerOperands: Readonly<Record<string, (caller: CallerValues) => string | null>> = {
  '$caller.id': ({ userId }) => userId,
  '$caller.role': ({ role }) => role,
};
const known = Object.keys(callerOperands).join(' and ');

const isCallerOperand = (value: Json): value is string =>
  typeof value === 'string' && Object.hasOwn(callerOperands, value);

const namesCaller = (value: Json): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(namesCaller)
    : typeof value === 'string' && value.startsWith('$caller');

const equalValues = (test: Test): Json[] => {
  if (test.op === 'eq') return [test.value];
  return test.op === 'in' ? test.values : [];
};

const otherOperands = (test: Test): Json[] => {
  if (test.op === 'compare') return [test.value];
  return test.op === 'text' ? [test.text] : [];
};

const checkTest = (field: string, test: Test): void => {
  const place = quoted(field);
  if (field === 'updatedAt') refuse(`${place} can not stand in a rule: each change sets it.`);
  const isEquality = test.op === 'eq' || test.op === 'in';
  if (isSystemField(field) && !isEquality && !(field === 'createdAt' && test.op === 'compare'))
    refuse(
      field === 'createdAt'
        ? `${place} takes $gt, $gte, $lt, $lte and equality in a rule.`
        : `${place} takes $eq, $ne, $in and $nin in a rule.`,
    );
  for (const value of equalValues(test))
    if (!isCallerOperand(value) && namesCaller(value))
      refuse(`${place}: of the caller a rule knows ${known}, each as an operand by itself.`);
  // Folding a large document is a long time for one write.
  if (test.op === 'text' && test.ignoreCase) refuse(`${place}: a rule does not ignore case.`);
  if (otherOperands(test).some(namesCaller))
    refuse(`${place}: ${known} take $eq, $ne, $in, $nin and $all alone.`);
};

const checkFilter = (filter: Filter): void => {
  if (filter.kind === 'test') checkTest(filter.field, filter.test);
  else if (filter.kind === 'not') checkFilter(filter.filter);
  else filter.filters.forEach(checkFilter);
};

type FieldTest = Extract<Filter, { kind: 'test' }>;

const wholeTest = (filter: FieldTest): Filter => {
  const { field, test } = filter;
  const whole: FieldTest = { ...filter, isWhole: true };
  if (isSystemField(field) || (test.op === 'eq' && isCallerOperand(test.value))) return filter;
  if (test.op !== 'in' || !test.values.some(isCallerOperand)) return whole;
  const ofCaller: Test = { op: 'in', values: test.values.filter(isCallerOperand) };
  const others: Test = {
    op: 'in',
    values: test.values.filter((value) => !isCallerOperand(value)),
  };
  return {
    kind: 'or',
    filters: [
      { ...filter, test: ofCaller },
      { ...whole, test: others },
    ],
  };
};

/** Under a negation: what an element passes, its list passes, and what is not there counts as missing. */
const negatedTest = (filter: FieldTest): Filter => {
  if (!matchesMissing(filter.test) || !filter.field.includes('.')) return filter;
  const exists: Filter = { ...filter, test: { op: 'exists' }, isWhole: true };
  return { kind: 'or', filters: [filter, { kind: 'not', filter: exists }] };
};

/** Whoever writes a list must not pass by one element here and by another there. */
const withoutElements = (filter: Filter, isNegated = false): Filter => {
  if (filter.kind === 'test') return isNegated ? negatedTest(filter) : wholeTest(filter);
  if (filter.kind === 'not')
    return { kind: 'not', filter: withoutElements(filter.filter, !isNegated) };
  if (filter.isAll) return filter;
  return { ...filter, filters: filter.filters.map((part) => withoutElements(part, isNegated)) };
};

/**
 * The `where` of a rule: a filter of lists that admits a list by its elements only where it names the caller or
 * `$all`, with operands that stand for something of the caller, and nothing that an UPDATE of a cluster can not ask.
 * @throws ApiError invalid_where, naming what is wrong
 */
export const parseRuleFilter = (where: unknown): Filter => {
  const filter = parseFilter(where as Json);
  if (fieldsIn(filter).length === 0) refuse('it needs a condition.');
  checkFilter(filter);
  return withoutElements(filter);
};

const hasCaller = (filter: Filter): boolean => {
  if (filter.kind === 'test') return equalValues(filter.test).some(isCallerOperand);
  return filter.kind === 'not' ? hasCaller(filter.filter) : filter.filters.some(hasCaller);
};

/** Kept as long as the rules are. */
const callerFilters = new WeakMap<Filter, boolean>();

/** Whether it means something else for another caller. */
export const usesCaller = (filter: Filter): boolean => {
  const uses = callerFilters.get(filter) ?? hasCaller(filter);
  callerFilters.set(filter, uses);
  return uses;
};

const bindTest = (test: Test, bind: (value: Json) => Json): Test => {
  if (test.op === 'eq') return { op: 'eq', value: bind(test.value) };
  return test.op === 'in' ? { op: 'in', values: test.values.map(bind) } : test;
};

const bindFilter = (filter: Filter, bind: (value: Json) => Json): Filter => {
  if (filter.kind === 'test') return { ...filter, test: bindTest(filter.test, bind) };
  if (filter.kind === 'not') return { kind: 'not', filter: bindFilter(filter.filter, bind) };
  return { kind: filter.kind, filters: filter.filters.map((part) => bindFilter(part, bind)) };
};

/** The filter for one caller, who has to be a user where it asks for them. */
export const forCaller = (filter: Filter, caller: CallerValues): Filter =>
  usesCaller(filter)
    ? bindFilter(filter, (value) =>
        isCallerOperand(value) ? (callerOperands[value]?.(caller) ?? null) : value,
      )
    : filter;
