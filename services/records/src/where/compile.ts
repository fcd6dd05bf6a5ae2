import { isUuid } from '@backlot/contract';
import { isPosition, isSystemField } from '../fields.ts';
import type { Parameters } from '../sql.ts';
import { type Filter, matchesMissing, type Test } from './filter.ts';
import { systemFieldSql } from './system-field-sql.ts';
import { groupTexts, sameTextSql } from './text-sql.ts';
import { elementSql, fieldSql, wholeSql } from './value-sql.ts';

/** Whether the primary key alone answers the test. */
export const isKeyTest = (field: string, test: Test): boolean => {
  if (field === 'createdAt') return test.op === 'eq' || test.op === 'compare';
  if (field !== 'id') return false;
  return (
    test.op === 'eq' || test.op === 'in' || (test.op === 'compare' && isUuid(String(test.value)))
  );
};

/**
 * A condition on the columns of `records` that is true or false, never null. Tests on the primary key
 * go without IS TRUE: its columns are never null, and an index can't answer IS TRUE.
 */
export const filterSql = (filter: Filter, parameters: Parameters): string => {
  switch (filter.kind) {
    case 'and':
      return joinSql(filter.filters, ' AND ', 'true', parameters);
    case 'or':
      return joinSql(filter.filters, ' OR ', 'false', parameters);
    case 'not':
      return `NOT ${filterSql(filter.filter, parameters)}`;
    case 'test':
      return isKeyTest(filter.field, filter.test)
        ? `(${testSql(filter, parameters)})`
        : `((${testSql(filter, parameters)}) IS TRUE)`;
  }
};

const joinSql = (filters: Filter[], operator: string, empty: string, parameters: Parameters) =>
  filters.length === 0
    ? empty
    : `(${groupTexts(filters)
        .map((group) => groupSql(group, operator, parameters))
        .join(operator)})`;

const groupSql = (filters: Filter[], operator: string, parameters: Parameters): string => {
  const atOnce = sameTextSql(filters, operator, parameters);
  const each = filters.map((filter) => filterSql(filter, parameters)).join(operator);
  return atOnce === undefined ? each : `coalesce(${atOnce}, ${each})`;
};

type FieldTest = Extract<Filter, { kind: 'test' }>;

const testSql = ({ field, test, isWhole }: FieldTest, parameters: Parameters): string => {
  if (isSystemField(field)) return systemFieldSql(field, test, parameters);
  const path = field.split('.');
  const steps = path.map((segment) => parameters.add(segment, 'text'));
  const values = steps.map(
    (_, i) =>
      `(data${steps
        .slice(0, i + 1)
        .map((step) => ` -> ${step}`)
        .join('')})`,
  );
  const value = values.pop() ?? 'data';
  const inline = (isWhole ? wholeSql : fieldSql)(value, test, parameters);
  // Behind an array a key finds nothing.
  if (values.length === 0 || (isWhole && !matchesMissing(test))) return inline;
  const passesArray = `'array' IN (${values.map((value) => `jsonb_typeof(${value})`).join(', ')})`;
  const through = isWhole ? 'false' : throughArrays(path, test, parameters);
  return `CASE WHEN ${passesArray} THEN ${through} ELSE ${inline} END`;
};

/**
 * For paths that lead through an array. jsonpath is five times as fast as `path_values`, but knows
 * neither positions by their number nor missing fields.
 */
const throughArrays = (path: string[], test: Test, parameters: Parameters): string => {
  if (path.slice(1).some(isPosition) || matchesMissing(test)) {
    const source = `records.path_values(data, ${parameters.add(path, 'text[]')}) reached`;
    const one = elementSql('reached.v', test, parameters);
    const many = fieldSql('reached.v', test, parameters);
    return `EXISTS (SELECT FROM ${source} WHERE CASE WHEN by_position THEN ${one} ELSE ${many} END)`;
  }
  const jsonpath = `$${path.map((segment) => `.${JSON.stringify(segment)}`).join('')}`;
  const source = `jsonb_path_query(data, ${parameters.add(jsonpath, 'jsonpath')}) reached(v)`;
  return `EXISTS (SELECT FROM ${source} WHERE ${fieldSql('reached.v', test, parameters)})`;
};
