import { visibleRecordsSql } from '../collections/field-rules.ts';
import { epochSql } from '../collections/stored/slots.ts';
import { and, type Parameters, startParameters } from '../sql.ts';
import {
  deadlineSql,
  isInTime,
  type ListQuery,
  type ListStatement,
  orderSql,
  pageSql,
  positionSql,
  type ReadLimits,
  recordColumns,
} from './list-statement.ts';
import type { SearchTerms } from './search-query.ts';
import { boundsSql, conditionsSql, type Selection } from './selection.ts';
import { afterSql, type Sort, sortKeySql } from './sort.ts';

/** No field of a record begins with "$". */
const rankField = '$rank';

/** The best first. */
export const byRank: Sort = {
  fields: [{ field: rankField, descending: true }],
  idDescending: true,
};

/** How long one statement looks at what it has found. */
const workMs = 800;

interface Found {
  tables: string;
  /** What is read, with the column `rank`. */
  source: string;
  isTooMuch: string;
}

/** The records that have the words, at most `scanRows` of them. */
const foundSql = (
  selection: Selection,
  { number, matching, exact }: SearchTerms,
  { scanRows }: Pick<ReadLimits, 'scanRows'>,
  parameters: Parameters,
): Found => {
  const most = parameters.add(scanRows, 'int');
  const wanted = parameters.add(matching, 'tsquery');
  const rank = `ts_rank(words, ${wanted}, 1) + ts_rank(words, ${parameters.add(exact, 'tsquery')}, 1)`;
  return {
    tables: `${deadlineSql(parameters.add(workMs, 'int'))}, found AS MATERIALIZED (
      SELECT record_id, CASE WHEN ${isInTime} THEN ${rank} END AS rank FROM search_texts
      WHERE project_id = $1 AND coll_id = $2 AND number = ${parameters.add(number, 'int')} AND words @@ ${wanted}
      LIMIT ${most} + 1)`,
    source: `${visibleRecordsSql(selection, parameters)} JOIN found ON found.record_id = records.id WHERE ${boundsSql(selection, parameters)}`,
    isTooMuch: `((SELECT count(*) FROM found) > ${most} OR NOT ${isInTime})`,
  };
};

/** Whether a record that was found still has the words. Once they are kept no longer it stays. */
export const stillFoundSql = ({ number, matching }: SearchTerms, parameters: Parameters): string =>
  `coalesce((SELECT words @@ ${parameters.add(matching, 'tsquery')} FROM search_texts WHERE project_id = $1 AND coll_id = $2
     AND number = ${parameters.add(number, 'int')} AND record_id = records.id), true)`;

const fitsSql = (tests: readonly (string | undefined)[]): string =>
  `CASE WHEN ${isInTime} THEN ${and(['true', ...tests])} ELSE false END`;

/** A list by words with the columns of `listStatement`, and `epoch`. */
export const searchListStatement = (
  query: ListQuery,
  terms: SearchTerms,
  limits: ReadLimits,
): ListStatement => {
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const { sort, after } = query;
  const found = foundSql(query, terms, limits, parameters);
  const keys = sort.fields.map((field) =>
    field.field === rankField ? 'to_jsonb(rank)' : sortKeySql(field, parameters),
  );
  const position = after && afterSql(sort, keys, positionSql(after, query, keys, parameters));
  const fits = fitsSql([...conditionsSql(query, parameters), position]);
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const rows = `SELECT *${keyColumns} FROM (SELECT ${recordColumns}, rank FROM ${found.source}) records
    WHERE ${fits} ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`;
  const page = pageSql(rows, keys.length, limit, pageBytes, {
    ...{ isUnfinished: 'false', isExceeded: found.isTooMuch },
  });
  return {
    text: `WITH ${found.tables} SELECT page.*, ${epochSql} AS epoch FROM (${page}) page`,
    values: parameters.values,
  };
};

/** `count`, `exceeded` and `epoch`. */
export const searchCountStatement = (
  selection: Selection,
  terms: SearchTerms,
  limits: Pick<ReadLimits, 'scanRows'>,
): ListStatement => {
  const parameters = startParameters(selection.collection);
  const found = foundSql(selection, terms, limits, parameters);
  const fits = fitsSql(conditionsSql(selection, parameters));
  return {
    text: `WITH ${found.tables} SELECT count(*) FILTER (WHERE ${fits}) AS count, ${found.isTooMuch} AS exceeded, ${epochSql} AS epoch
      FROM (SELECT ${recordColumns} FROM ${found.source}) records`,
    values: parameters.values,
  };
};
