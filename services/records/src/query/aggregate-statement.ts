import { isSystemField } from '../fields.ts';
import { isoTimeSql, type Parameters, startParameters } from '../sql.ts';
import { conditionsSql, type Selection } from './selection.ts';
import { type Slice, walkSql } from './slice-statement.ts';
import { dataValueSql } from './sort.ts';

/** Larger values make no group, and longer strings are no minimum. */
const maxGroupBytes = 512;
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

/** What is kept of a field: its number, or its string. */
const keptSql = (field: string, i: number, parameters: Parameters): string[] => {
  const value = valueSql(field, parameters);
  const text = `${value} #>> '{}'`;
  return [
    `CASE WHEN fits THEN CASE jsonb_typeof(${value}) WHEN 'number' THEN (${value})::numeric END END AS n${i}`,
    `CASE WHEN fits THEN CASE WHEN jsonb_typeof(${value}) = 'string' AND length(${text}) <= ${maxTextLength} THEN ${text} END END AS t${i}`,
  ];
};

/** One statement for a piece: joins its records to the groups of the pieces before. */
export const aggregateSlice = (
  selection: Selection,
  slice: Slice,
  { group, fields }: { group: string | undefined; fields: readonly string[] },
  before: readonly GroupState[],
  most: number,
): { text: string; values: readonly unknown[] } => {
  const parameters = startParameters(selection.collection);
  const tests = conditionsSql(selection, parameters);
  const value = group === undefined ? `'null'::jsonb` : valueSql(group, parameters);
  const key = `coalesce(${value}, 'null')`;
  const isLong = `octet_length(${key}::text) > ${maxGroupBytes}`;
  const walk = walkSql(selection, slice, parameters, {
    ...{ descending: true, tests },
    kept: [
      `CASE WHEN fits THEN ${isLong} END AS is_long`,
      `CASE WHEN fits THEN CASE WHEN ${isLong} THEN 'null' ELSE ${key} END END AS g`,
      ...fields.flatMap((field, i) => keptSql(field, i, parameters)),
    ],
  });
  const ofRecords = fields.map(
    (_, i) =>
      `, sum(n${i}) AS s${i}, count(n${i}) AS c${i}, min(n${i}) AS lo${i}, max(n${i}) AS hi${i}, min(t${i}) AS first${i}, max(t${i}) AS last${i}`,
  );
  const ofBefore = fields.map((_, i) => {
    const at = (column: number) => `(state ->> ${2 + columnsOfField * i + column})`;
    return `, ${at(0)}::numeric, ${at(1)}::int8, ${at(2)}::numeric, ${at(3)}::numeric, ${at(4)}, ${at(5)}`;
  });
  const joined = fields.map(
    (_, i) =>
      `, sum(s${i}) AS s${i}, sum(c${i}) AS c${i}, min(lo${i}) AS lo${i}, max(hi${i}) AS hi${i}, min(first${i}) AS first${i}, max(last${i}) AS last${i}`,
  );
  const shown = fields.map(
    (_, i) => `, s${i}::text, c${i}, lo${i}::text, hi${i}::text, first${i}, last${i}`,
  );
  const states = parameters.add(JSON.stringify(before), 'jsonb');
  return {
    // Named where they are made: Citus loses the names of columns that stand behind that of a table of WITH.
    text: `${walk.tables}, parts AS (
        SELECT g, count(*) AS count${ofRecords.join('')} FROM looked WHERE fits GROUP BY g
        UNION ALL
        SELECT state -> 0, (state ->> 1)::int8${ofBefore.join('')} FROM jsonb_array_elements(${states}) state),
      groups AS (
        SELECT g, sum(count) AS count${joined.join('')} FROM parts GROUP BY g
        LIMIT ${parameters.add(most, 'int')} + 1)
      SELECT ${walk.columns},
        coalesce((SELECT bool_or(is_long) FROM looked WHERE fits), false) AS "hasLongKeys",
        (SELECT coalesce(json_agg(json_build_array(g, count${shown.join('')})), '[]') FROM groups) AS groups`,
    values: parameters.values,
  };
};
