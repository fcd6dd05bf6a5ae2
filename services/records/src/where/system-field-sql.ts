import { isUuid } from '@backlot/contract';
import type { SystemField } from '../fields.ts';
import { isoTimeSql, type Parameters } from '../sql.ts';
import { lowestIdAt, type Timestamp } from '../timestamps.ts';
import type { ComparisonSign, Json, Test } from './filter.ts';
import { elementSql } from './value-sql.ts';

/** A test on one of the record's own fields; it compares columns where that is possible. */
export const systemFieldSql = (field: SystemField, test: Test, parameters: Parameters): string => {
  switch (field) {
    case 'id':
      return idSql(test, parameters);
    case 'ownerId':
      return ownerSql(test, parameters);
    case 'createdAt':
      return dateSql(test, parameters, isoTimeSql('created_at'), createdAtSql);
    case 'updatedAt':
      return dateSql(test, parameters, isoTimeSql('updated_at'), updatedAtSql);
  }
};

const uuids = (values: readonly Json[], parameters: Parameters) =>
  parameters.add(
    values.filter((value) => typeof value === 'string' && isUuid(value)),
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

/** The field always exists; without an owner it is null. */
const ownerSql = (test: Test, parameters: Parameters): string => {
  if (test.op === 'eq' && test.value === null) return 'owner_id IS NULL';
  if (test.op === 'eq') return `owner_id = ANY (${uuids([test.value], parameters)})`;
  if (test.op === 'in') {
    const nobody = test.values.includes(null) ? 'owner_id IS NULL OR ' : '';
    return `${nobody}owner_id = ANY (${uuids(test.values, parameters)})`;
  }
  return elementSql(`coalesce(to_jsonb(owner_id::text), 'null')`, test, parameters);
};

type TimestampSql = (
  sign: ComparisonSign | '=',
  timestamp: Timestamp,
  parameters: Parameters,
) => string;

const dateSql = (
  test: Test,
  parameters: Parameters,
  text: string,
  compare: TimestampSql,
): string => {
  const equal = (value: Json) =>
    typeof value === 'number' ? compare('=', value, parameters) : 'false';
  if (test.op === 'eq') return equal(test.value);
  if (test.op === 'in') return ['false', ...test.values.map(equal)].join(' OR ');
  if (test.op === 'compare') return compare(test.sign, Number(test.value), parameters);
  return elementSql(`to_jsonb(${text})`, test, parameters);
};

/** createdAt is the time in the id, so that the primary key answers. */
const createdAtSql: TimestampSql = (sign, timestamp, parameters) => {
  const from = (ms: number) => parameters.add(lowestIdAt(ms), 'uuid');
  const next = Math.floor(timestamp) + 1;
  switch (sign) {
    case '>=':
      return `id >= ${from(timestamp)}`;
    case '>':
      return `id >= ${from(next)}`;
    case '<':
      return `id < ${from(timestamp)}`;
    case '<=':
      return `id < ${from(next)}`;
    case '=':
      return Number.isInteger(timestamp)
        ? `(id >= ${from(timestamp)} AND id < ${from(next)})`
        : 'false';
  }
};

/** Records are younger than 1970 and PostgreSQL's texts end at the year 9999. */
const earliestMs = -1;
const latestMs = Date.UTC(9999, 11, 31);

const updatedAtSql: TimestampSql = (sign, timestamp, parameters) => {
  const clamped = Math.min(Math.max(timestamp, earliestMs), latestMs);
  const ms = Math.floor(clamped);
  const micros = Math.round((clamped - ms) * 1000);
  const text = new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
  return `updated_at ${sign} ${parameters.add(text, 'timestamptz')}`;
};
