import { epochSql } from '../collections/stored/slots.ts';
import { isSystemField } from '../fields.ts';
import { and, isoTimeSql, type Parameters, startParameters } from '../sql.ts';
import type { Aggregation } from './aggregation.ts';
import { fitsSql, toWays } from './by-index/branches.ts';
import type { CountDriver } from './by-index/drivers.ts';
import { deadlineSql, isInTime, recordColumns, type Stretch } from './list-statement.ts';
import type { PlannedStatement } from './plan.ts';
import { conditionsSql, type Selection } from './selection.ts';
import { type Slice, walkSql } from './slice-statement.ts';
import { dataValueSql } from './sort.ts';

/** Larger values make no group, and longer strings are no minimum. */
const maxGroupBytes = 512;
/** Of a value as PostgreSQL keeps it: whether a larger one is too long is asked of each record, not of its group. */
const usualGroupBytes = 600;
const maxTextLength = 200;

/**
 * A group as it is carried from piece to piece: its value and count, then for each field the sum (exact, as
 * text), how many numbers, the least and largest of them, and the first and last of the strings.
 */
export type GroupState = [group: unknown, count: number, ...fields: (string | number | null)[]];
export const columnsOfField = 6;

const systemValueSql = {
  id: 'to_jsonb(id::text)',
  ownerId: 'to_jsonb(owner_id::text)',
  createdAt: `to_jsonb(${isoTimeSql('created_at')})`,
  updatedAt: `to_jsonb(${isoTimeSql('updated_at')})`,
};

const valueSql = (field: string, parameters: Parameters): string =>
  isSystemField(field) ? systemValueSql[field] : dataValueSql(field, parameters);

/** The value to group by, `vg`, and those of the fields, `v0` and so on, over the columns of `records`. */
const valuesSql = ({ group, fields }: Aggregation, parameters: Parameters): [string, string][] => [
  ...(group === undefined ? [] : [['vg', valueSql(group, parameters)] as [string, string]]),
  ...fields.map((field, i): [string, string] => [`v${i}`, valueSql(field, parameters)]),
];

/** Null for a value that is too long to make a group. */
const groupKeySql = `CASE WHEN pg_column_size(vg) > ${usualGroupBytes}
    THEN CASE WHEN octet_length(vg::text) <= ${maxGroupBytes} THEN vg END ELSE coalesce(vg, 'null') END`;

/** Whether strings count: as a minimum or maximum, or to tell that the field is there. */
const hasExtremes = ({ measures }: Aggregation, field: string): boolean =>
  measures.some((measure) => measure.field === field && /^(min|max)$/.test(measure.name));

/** What is kept of a field: its numbers, and its strings; where nobody asks for these, that there are some. */
const keptSql = (aggregation: Aggregation, field: string, i: number): [string, string] => {
  const text = `v${i} #>> '{}'`;
  return [
    `CASE jsonb_typeof(v${i}) WHEN 'number' THEN v${i}::numeric END AS n${i}`,
    hasExtremes(aggregation, field)
      ? `CASE WHEN jsonb_typeof(v${i}) = 'string' AND length(${text}) <= ${maxTextLength} THEN ${text} END AS t${i}`
      : `CASE jsonb_typeof(v${i}) WHEN 'string' THEN '' END AS t${i}`,
  ];
};

/** @param source has the columns of `valuesSql` and `fits`, which holds for the records that count */
const groupsSql = (
  aggregation: Aggregation,
  source: string,
  before: readonly GroupState[],
  most: number,
  parameters: Parameters,
): string => {
  const { group, fields } = aggregation;
  const key = group === undefined ? `'null'::jsonb` : groupKeySql;
  const kept = fields.flatMap((field, i) => keptSql(aggregation, field, i));
  const ofRecords = fields.map((field, i) => {
    const extremes = hasExtremes(aggregation, field)
      ? `min(n${i}) AS lo${i}, max(n${i}) AS hi${i}, min(t${i}) AS first${i}, max(t${i}) AS last${i}`
      : `NULL::numeric AS lo${i}, NULL::numeric AS hi${i}, max(t${i}) AS first${i}, NULL AS last${i}`;
    return `, sum(n${i}) AS s${i}, count(n${i}) AS c${i}, ${extremes}`;
  });
  const ofBefore = fields.map((_, i) => {
    const at = (column: number) => `(state ->> ${2 + columnsOfField * i + column})`;
    return `, ${at(0)}::numeric, ${at(1)}::int8, ${at(2)}::numeric, ${at(3)}::numeric, ${at(4)}, ${at(5)}`;
  });
  const joined = fields.map(
    (_, i) =>
      `, sum(s${i}) AS s${i}, sum(c${i}) AS c${i}, min(lo${i}) AS lo${i}, max(hi${i}) AS hi${i}, min(first${i}) AS first${i}, max(last${i}) AS last${i}`,
  );
  const states = parameters.add(JSON.stringify(before), 'jsonb');
  // Named where they are made: Citus loses the names of columns that stand behind that of a table of WITH.
  return `parts AS (
      SELECT g, count(*) AS looked, count(*) FILTER (WHERE fits) AS count${ofRecords.join('')} FROM (SELECT ${['fits', `${key} AS g`, ...kept].join(', ')} FROM (${source}) found OFFSET 0) kept GROUP BY g
      UNION ALL
      SELECT state -> 0, 0, (state ->> 1)::int8${ofBefore.join('')} FROM jsonb_array_elements(${states}) state),
    groups AS (
      SELECT g, sum(count) AS count${joined.join('')} FROM parts WHERE count > 0 GROUP BY g
      LIMIT ${parameters.add(most, 'int')} + 1)`;
};

/** `groups` and `hasLongKeys`. */
const resultSql = ({ fields }: Aggregation): string => {
  const shown = fields.map(
    (_, i) => `, s${i}::text, c${i}, lo${i}::text, hi${i}::text, first${i}, last${i}`,
  );
  return `(SELECT coalesce(bool_or(g IS NULL OR octet_length(g::text) > ${maxGroupBytes}), false) FROM groups) AS "hasLongKeys",
      (SELECT coalesce(json_agg(json_build_array(g, count${shown.join('')})), '[]') FROM groups) AS groups`;
};

/** One statement for a piece: joins its records to the groups of the pieces before. */
export const aggregateSlice = (
  selection: Selection,
  slice: Slice,
  aggregation: Aggregation,
  before: readonly GroupState[],
  most: number,
): PlannedStatement => {
  const parameters = startParameters(selection.collection);
  const tests = conditionsSql(selection, parameters);
  const walk = walkSql(selection, slice, parameters, {
    descending: true,
    tests,
    kept: valuesSql(aggregation, parameters).map(
      ([name, value]) => `CASE WHEN fits THEN ${value} END AS ${name}`,
    ),
  });
  const groups = groupsSql(
    aggregation,
    'SELECT * FROM looked WHERE fits',
    before,
    most,
    parameters,
  );
  return {
    text: `${walk.tables}, ${groups} SELECT ${walk.columns}, ${resultSql(aggregation)}`,
    values: parameters.values,
  };
};

/** The same of the records that an index leads to, with `unfinished` and `epoch`. */
export const aggregateByIndex = (
  selection: Selection,
  driver: CountDriver,
  stretch: Stretch,
  aggregation: Aggregation,
  most: number,
): PlannedStatement => {
  const parameters = startParameters(selection.collection);
  const rows = parameters.add(stretch.rows, 'int');
  const deadline = deadlineSql(parameters.add(stretch.ms, 'int'));
  const all = conditionsSql(selection, parameters);
  const values = valuesSql(aggregation, parameters).map(
    ([name, value]) => `CASE WHEN fits THEN ${value} END AS ${name}`,
  );
  const read = toWays(selection, driver, parameters).map(({ columns, where, isNew, hasMarker }) => {
    // What an index tells of all but arrays and objects is not looked for in the document.
    const tests = driver.isExact
      ? [`CASE WHEN ${hasMarker} THEN ${and(['true', ...all])} ELSE true END`]
      : all;
    return `SELECT ${['fits', ...values].join(', ')} FROM (SELECT *, ${fitsSql([isNew, ...tests])} AS fits
      FROM (SELECT ${recordColumns}${columns} FROM records WHERE ${where} LIMIT ${rows} + 1) records OFFSET 0) records`;
  });
  const source = read.join(' UNION ALL ');
  return {
    text: `WITH ${deadline}, ${groupsSql(aggregation, source, [], most, parameters)}
      SELECT ${resultSql(aggregation)}, ${epochSql} AS epoch,
        (coalesce((SELECT sum(looked) FROM parts), 0) > ${rows} OR NOT ${isInTime}) AS unfinished`,
    values: parameters.values,
  };
};
