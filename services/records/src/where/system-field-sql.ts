import { isUuid, type SystemField } from '../fields.ts';
import { type Instant, lowestIdAt } from '../instant.ts';
import type { Parameters } from '../parameters.ts';
import { isoText } from '../record-text.ts';
import type { Json, Sign, Test } from './filter.ts';
import { elementSql } from './value-sql.ts';

/** A test on one of the record's own fields; what can be is a comparison of columns. */
export const systemFieldSql = (field: SystemField, test: Test, parameters: Parameters): string => {
  switch (field) {
    case 'id':
      return idSql(test, parameters);
    case 'ownerId':
      return ownerSql(test, parameters);
    case 'createdAt':
      return dateSql(test, parameters, isoText('created_at'), createdAtSql);
    case 'updatedAt':
      return dateSql(test, parameters, isoText('updated_at'), updatedAtSql);
  }
};

/** Whether the primary key alone answers the test, so that it bounds what is read. */
export const isKeyTest = (field: string, test: Test): boolean => {
  if (field === 'createdAt') return test.op === 'eq' || test.op === 'compare';
  if (field !== 'id') return false;
  return (
    test.op === 'eq' || test.op === 'in' || (test.op === 'compare' && isUuid(String(test.value)))
  );
};

const uuids = (values: readonly Json[], parameters: Parameters) =>
  parameters.add(
    values.filter((each) => typeof each === 'string' && isUuid(each)),
    'uuid[]',
  );

const idSql = (test: Test, parameters: Parameters): string => {
  if (test.op === 'eq') return `id = ANY (${uuids([test.value], parameters)})`;
  if (test.op === 'in') return `id = ANY (${uuids(test.values, parameters)})`;
  if (test.op === 'compare' && isUuid(String(test.value))) {
    return `id ${test.sign} ${parameters.add(test.value, 'uuid')}`;
  }
  return elementSql('to_jsonb(id::text)', test, parameters);
};

/** Without an owner the field is there and null. */
const ownerSql = (test: Test, parameters: Parameters): string => {
  if (test.op === 'eq' && typeof test.value === 'string') {
    return `owner_id = ANY (${uuids([test.value], parameters)})`;
  }
  if (test.op === 'in') {
    const nobody = test.values.includes(null) ? 'owner_id IS NULL OR ' : '';
    return `${nobody}owner_id = ANY (${uuids(test.values, parameters)})`;
  }
  return elementSql(`coalesce(to_jsonb(owner_id::text), 'null')`, test, parameters);
};

type InstantSql = (sign: Sign | '=', instant: Instant, parameters: Parameters) => string;

const dateSql = (test: Test, parameters: Parameters, text: string, compare: InstantSql): string => {
  const equal = (value: Json) =>
    typeof value === 'number' ? compare('=', value, parameters) : 'false';
  if (test.op === 'eq') return equal(test.value);
  if (test.op === 'in') return ['false', ...test.values.map(equal)].join(' OR ');
  if (test.op === 'compare') return compare(test.sign, Number(test.value), parameters);
  return elementSql(`to_jsonb(${text})`, test, parameters);
};

/** createdAt is the millisecond in the id, so that the primary key answers. */
const createdAtSql: InstantSql = (sign, instant, parameters) => {
  const from = (ms: number) => parameters.add(lowestIdAt(ms), 'uuid');
  const next = Math.floor(instant) + 1;
  switch (sign) {
    case '>=':
      return `id >= ${from(instant)}`;
    case '>':
      return `id >= ${from(next)}`;
    case '<':
      return `id < ${from(instant)}`;
    case '<=':
      return `id < ${from(next)}`;
    case '=':
      return Number.isInteger(instant)
        ? `(id >= ${from(instant)} AND id < ${from(next)})`
        : 'false';
  }
};

/** Records are younger than 1970 and PostgreSQL's texts end at the year 9999. */
const earliestMs = -1;
const latestMs = Date.UTC(9999, 11, 31);

const updatedAtSql: InstantSql = (sign, instant, parameters) => {
  const clamped = Math.min(Math.max(instant, earliestMs), latestMs);
  const ms = Math.floor(clamped);
  const micros = Math.round((clamped - ms) * 1000);
  const text = new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
  return `updated_at ${sign} ${parameters.add(text, 'timestamptz')}`;
};
