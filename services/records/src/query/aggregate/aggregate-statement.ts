import { epochSql } from '../../collections/stored/slots.ts';
import { and, type Parameters, type Statement, startParameters } from '../../sql.ts';
import { fitsSql, toWays } from '../by-index/branches.ts';
import type { CountDriver } from '../by-index/drivers.ts';
import { deadlineSql, isInTime, recordColumns, type Stretch } from '../list-statement.ts';
import { type Piece, walkSql } from '../piece-statement.ts';
import { conditionsSql, type Selection } from '../selection.ts';
import type { Aggregation } from './aggregation.ts';
import {
  distinctKeySql,
  groupKeySql,
  hasExtremes,
  keptSql,
  maxGroupBytes,
  valuesSql,
} from './group-values.ts';

/**
 * A group as it is carried from piece to piece: its value (of several fields an array of theirs) and count, then for
 * each field the sum (exact, as text), how many numbers, the least and largest of them, and the first and last of the
 * strings.
 */
export type GroupState = [group: unknown, count: number, ...fields: (string | number | null)[]];
export const columnsOfField = 6;

/** What a statement answers: a group, and of its different values those of this piece, or how many by an index. */
export type FoundGroup<Distinct> = [...group: GroupState, distinct: Distinct];

/** Of the different values of a group those of these records, or how many; null where nobody asks. */
const distinctSql = { values: 'json_agg(d) FILTER (WHERE d IS NOT NULL)', number: 'count(d)' };

interface Grouping {
  aggregation: Aggregation;
  /** Has the columns of `valuesSql` and `fits`, which holds for the records that count. */
  source: string;
  before: readonly GroupState[];
  most: number;
  distinct: keyof typeof distinctSql;
}

const groupsSql = (
  { aggregation, source, before, most, distinct }: Grouping,
  parameters: Parameters,
): string => {
  const { fields } = aggregation;
  const hasDistinct = aggregation.distinct !== undefined;
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
  const values = ['fits', `${groupKeySql(aggregation)} AS g`, ...kept];
  if (hasDistinct) values.push(`${distinctKeySql} AS d`);
  const [d, noD] = hasDistinct ? [', d', ', NULL::jsonb'] : ['', ''];
  const found = hasDistinct ? distinctSql[distinct] : 'NULL::int8';
  // Named where they are made: Citus loses the names of columns that stand behind that of a table of WITH.
  return `parts AS (
      SELECT g, count(*) AS looked, count(*) FILTER (WHERE fits) AS count${ofRecords.join('')}${d} FROM (SELECT ${values.join(', ')} FROM (${source}) found OFFSET 0) kept GROUP BY g${d}
      UNION ALL
      SELECT state -> 0, 0, (state ->> 1)::int8${ofBefore.join('')}${noD} FROM jsonb_array_elements(${states}) state),
    groups AS (
      SELECT g, sum(count) AS count${joined.join('')}, ${found} AS found FROM parts WHERE count > 0 GROUP BY g
      LIMIT ${parameters.add(most, 'int')} + 1)`;
};

/** `groups` and `hasLongKeys`. */
const resultSql = ({ groups, fields }: Aggregation): string => {
  const shown = fields.map(
    (_, i) => `, s${i}::text, c${i}, lo${i}::text, hi${i}::text, first${i}, last${i}`,
  );
  const maxBytes = maxGroupBytes * Math.max(1, groups.length);
  return `(SELECT coalesce(bool_or(g IS NULL OR octet_length(g::text) > ${maxBytes}), false) FROM groups) AS "hasLongKeys",
      (SELECT coalesce(json_agg(json_build_array(g, count${shown.join('')}, found)), '[]') FROM groups) AS groups`;
};

/** One statement for a piece: joins its records to the groups of the pieces before. */
export const aggregatePiece = (
  selection: Selection,
  piece: Piece,
  aggregation: Aggregation,
  before: readonly GroupState[],
  most: number,
): Statement => {
  const parameters = startParameters(selection.collection);
  const tests = conditionsSql(selection, parameters);
  const walk = walkSql(selection, piece, parameters, {
    descending: true,
    tests,
    kept: valuesSql(aggregation, parameters).map(
      ([name, value]) => `CASE WHEN fits THEN ${value} END AS ${name}`,
    ),
  });
  const source = 'SELECT * FROM looked WHERE fits';
  const groups = groupsSql({ aggregation, source, before, most, distinct: 'values' }, parameters);
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
): Statement => {
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
  const grouping: Grouping = { aggregation, source, before: [], most, distinct: 'number' };
  return {
    text: `WITH ${deadline}, ${groupsSql(grouping, parameters)}
      SELECT ${resultSql(aggregation)}, ${epochSql} AS epoch,
        (coalesce((SELECT sum(looked) FROM parts), 0) > ${rows} OR NOT ${isInTime}) AS unfinished`,
    values: parameters.values,
  };
};
