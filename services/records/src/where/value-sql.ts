import type { Parameters } from '../sql.ts';
import { type ComparisonSign, type Json, matchesMissing, type Test } from './filter.ts';
import { textSql } from './text-sql.ts';

/**
 * A test as SQL over one jsonb expression that is null where the field is missing. The result may be
 * null for false. Names of fields and operands are parameters throughout.
 */

/** On a value as a whole, even where it is an array. */
export const elementSql = (v: string, test: Test, parameters: Parameters): string => {
  switch (test.op) {
    case 'eq':
      return `${v} = ${json(test.value, parameters)}`;
    case 'in':
      return `${v} = ANY (${list(test.values, parameters)})`;
    case 'compare':
      return compareSql(v, test.sign, test.value, parameters);
    case 'exists':
      return `${v} IS NOT NULL`;
    case 'size':
      return `CASE jsonb_typeof(${v}) WHEN 'array' THEN jsonb_array_length(${v}) = ${parameters.add(test.length, 'int')} END`;
    case 'text':
      return `CASE jsonb_typeof(${v}) WHEN 'string' THEN ${textSql(`(${v} #>> '{}')`, test, parameters)} END`;
  }
};

/** On the value of a field: an array also passes by any of its elements, a missing field equals null. */
export const fieldSql = (v: string, test: Test, parameters: Parameters): string => {
  switch (test.op) {
    case 'exists':
    case 'size':
      return elementSql(v, test, parameters);
    case 'eq': {
      if (test.value === null) return `coalesce(${v} @> 'null', true)`;
      // A scalar is contained in itself and in an array that has it as an element, and in nothing else.
      if (typeof test.value !== 'object') return `${v} @> ${json(test.value, parameters)}`;
      return `${elementSql(v, test, parameters)} OR ${anyElementSql(v, test, parameters)} END`;
    }
    case 'in': {
      const missing = test.values.includes(null) ? `${v} IS NULL OR ` : '';
      return `${missing}${elementSql(v, test, parameters)} OR ${anyElementSql(v, test, parameters)} END`;
    }
    case 'compare':
    case 'text':
      return `${anyElementSql(v, test, parameters)} ELSE ${elementSql(v, test, parameters)} END`;
  }
};

/** On the value of a field as a whole; a missing field equals null. */
export const wholeSql = (v: string, test: Test, parameters: Parameters): string => {
  const whole = elementSql(v, test, parameters);
  return matchesMissing(test) ? `coalesce(${whole}, true)` : whole;
};

/** The beginning of a CASE, because jsonb_array_elements fails on anything but an array. */
const anyElementSql = (v: string, test: Test, parameters: Parameters): string =>
  `CASE WHEN jsonb_typeof(${v}) = 'array' THEN EXISTS (SELECT FROM jsonb_array_elements(${v}) element(v) WHERE ${elementSql('element.v', test, parameters)})`;

const json = (value: Json, parameters: Parameters) =>
  parameters.add(JSON.stringify(value), 'jsonb');
const list = (values: readonly Json[], parameters: Parameters) =>
  parameters.add(
    values.map((value) => JSON.stringify(value)),
    'jsonb[]',
  );

/**
 * Within the operand's type, by jsonb's own order: null < texts < numbers < false < true < arrays, but
 * the empty array is below null. No stored number is as low as -1e400: it is no finite double.
 */
const lowestNumber = `'-1e400'::jsonb`;
const compareSql = (
  v: string,
  sign: ComparisonSign,
  value: string | number | boolean,
  parameters: Parameters,
): string => {
  const bound = `${v} ${sign} ${json(value, parameters)}`;
  const isLowerBound = sign.startsWith('>');
  switch (typeof value) {
    case 'string':
      return `(${bound} AND ${isLowerBound ? `${v} < ${lowestNumber}` : `${v} >= '""'`})`;
    case 'number':
      return `(${bound} AND ${isLowerBound ? `${v} < 'false'` : `${v} >= ${lowestNumber}`})`;
    default:
      return `(${bound} AND ${isLowerBound ? `${v} <= 'true'` : `${v} >= 'false'`})`;
  }
};
