import { ApiError } from '@backlot/contract';
import { type Filter, fieldsIn, type Json, type Test } from '../../where/filter.ts';
import { foldCase } from '../../where/fold-case.ts';
import { parseWhere } from '../../where/parse.ts';
import type { Measures } from './measures.ts';
import { type Group, measuredResults, nearestResult } from './results.ts';

const refuse = (message: string, hint?: string): never => {
  throw new ApiError('invalid_query', message, hint === undefined ? {} : { hint });
};

/** As `where`, but for its name in what is refused. */
const parse = (text: string): Filter => {
  try {
    return parseWhere(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return refuse(error.message.replace('"where"', '"having"'));
  }
};

/**
 * Reads the query parameter `having`: a filter over the sums that the call asks for.
 * @throws ApiError invalid_query
 */
export const parseHaving = (text: string | undefined, measures: Measures): Filter | undefined => {
  if (text === undefined) return undefined;
  const having = parse(text);
  const known = [...measuredResults(measures).keys()];
  const unknown = fieldsIn(having).find((name) => !known.includes(name));
  if (unknown === undefined) return having;
  return refuse(
    `"having": ${JSON.stringify(unknown.slice(0, 100))} is nothing that this call counts${nearestResult(unknown, known)}`,
    `There is ${known.join(', ')}; {"sum.price":{"$gt":100}} needs sum=price beside it. What records are counted is said by "where".`,
  );
};

const compareTexts = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

const isBehind = (sign: Extract<Test, { op: 'compare' }>['sign'], difference: number): boolean => {
  switch (sign) {
    case '>':
      return difference > 0;
    case '>=':
      return difference >= 0;
    case '<':
      return difference < 0;
    case '<=':
      return difference <= 0;
  }
};

const hasText = (value: string, { match, text, ignoreCase }: Extract<Test, { op: 'text' }>) => {
  const fold = (words: string) => (ignoreCase ? foldCase(words) : words);
  switch (match) {
    case 'contains':
      return fold(value).includes(fold(text));
    case 'startsWith':
      return fold(value).startsWith(fold(text));
    case 'endsWith':
      return fold(value).endsWith(fold(text));
  }
};

/** Of a number, a text or null, which is all that sums are. */
const passes = (value: Json, test: Test): boolean => {
  switch (test.op) {
    case 'eq':
      return value === test.value;
    case 'in':
      return test.values.includes(value);
    case 'exists':
      return true;
    case 'size':
      return false;
    case 'text':
      return typeof value === 'string' && hasText(value, test);
    case 'compare': {
      const { value: bound, sign } = test;
      if (typeof value === 'string' && typeof bound === 'string')
        return isBehind(sign, compareTexts(value, bound));
      return (
        typeof value === 'number' && typeof bound === 'number' && isBehind(sign, value - bound)
      );
    }
  }
};

const holds = (filter: Filter, read: (name: string) => Json): boolean => {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((part) => holds(part, read));
    case 'or':
      return filter.filters.some((part) => holds(part, read));
    case 'not':
      return !holds(filter.filter, read);
    case 'test':
      return passes(read(filter.field), filter.test);
  }
};

/** Those of which the filter holds. */
export const filterGroups = (
  groups: readonly Group[],
  having: Filter | undefined,
  measures: Measures,
): readonly Group[] => {
  if (having === undefined) return groups;
  const results = measuredResults(measures);
  return groups.filter((group) => holds(having, (name) => results.get(name)?.(group) ?? null));
};
