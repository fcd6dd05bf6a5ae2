import { isSystemField } from '../fields.ts';
import type { Parameters } from '../sql.ts';
import type { Filter, Test, TextMatch } from './filter.ts';
import { foldCaseSql } from './fold-case.ts';

/** @param operand folded where the test ignores case, as `text` is */
const matchSql = (text: string, operand: string, match: TextMatch): string => {
  switch (match) {
    case 'contains':
      return `strpos(${text}, ${operand}) > 0`;
    case 'startsWith':
      return `starts_with(${text}, ${operand})`;
    case 'endsWith':
      return `right(${text}, length(${operand})) = ${operand}`;
  }
};

type TextTest = Extract<Test, { op: 'text' }>;

const foldedSql = (text: string, { ignoreCase }: TextTest): string =>
  ignoreCase ? foldCaseSql(text) : text;

/** Of one text. */
export const textSql = (text: string, test: TextTest, parameters: Parameters): string =>
  matchSql(foldedSql(text, test), foldedSql(parameters.add(test.text, 'text'), test), test.match);

/** A test of a text, or that it does not hold. */
interface TextCondition {
  field: string;
  test: TextTest;
  isNegated: boolean;
}

const toTextCondition = (filter: Filter): TextCondition | undefined => {
  if (filter.kind === 'not') {
    const inner = toTextCondition(filter.filter);
    return inner && { ...inner, isNegated: !inner.isNegated };
  }
  if (filter.kind !== 'test' || filter.test.op !== 'text') return undefined;
  const { field, test } = filter;
  return isSystemField(field) ? undefined : { field, test, isNegated: false };
};

/** Those that look at the same text stand together. */
export const groupTexts = (filters: Filter[]): Filter[][] => {
  const groups = Map.groupBy(filters, (filter) => {
    const condition = toTextCondition(filter);
    return condition ? JSON.stringify([condition.field, condition.test.ignoreCase]) : filter;
  });
  return [...groups.values()];
};

/**
 * Filters on one text that all or none of them ignore case, true or false: it is taken out of the document, and
 * folded, once for all of them. Null where the value is no text; undefined where there is one filter, or none on a text.
 */
export const sameTextSql = (
  filters: readonly Filter[],
  operator: string,
  parameters: Parameters,
): string | undefined => {
  const [first] = filters;
  const text = first && filters.length > 1 ? toTextCondition(first) : undefined;
  if (!text) return undefined;
  const conditions = filters.map(toTextCondition).filter((condition) => condition !== undefined);
  const steps = text.field.split('.').map((step) => ` -> ${parameters.add(step, 'text')}`);
  const value = `(data${steps.join('')})`;
  const folded = foldedSql(`${value} #>> '{}'`, text.test);
  const tests = conditions.map(({ test, isNegated }) => {
    const operand = foldedSql(parameters.add(test.text, 'text'), test);
    return `${isNegated ? 'NOT ' : ''}(${matchSql('folded', operand, test.match)})`;
  });
  return `CASE jsonb_typeof(${value}) WHEN 'string' THEN (SELECT ${tests.join(operator)} FROM (SELECT ${folded} AS folded OFFSET 0) once) END`;
};
