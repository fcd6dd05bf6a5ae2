import { readableColumns, visibleRecordsSql } from '../collections/field-rules.ts';
import { epochSql } from '../collections/stored/slots.ts';
import { and, type Parameters, type Statement, startParameters } from '../sql.ts';
import {
  deadlineSql,
  isInTime,
  type ListQuery,
  orderSql,
  pageSql,
  positionSql,
  type ReadLimits,
  recordColumns,
  type Stretch,
} from './list-statement.ts';
import type { SearchTerms } from './search-query.ts';
import { boundsSql, conditionsSql, type Selection } from './selection.ts';
import { afterSql, type Sort, sortKeySql } from './sort.ts';

/** No field of a record begins with "$". */
const rankField = '$rank';

export const byRank: Sort = {
  fields: [{ field: rankField, descending: true }],
  idDescending: true,
};

interface Found {
  /** With `found`: a `record_id` and its `rank`, null unless that is asked for. */
  tables: string;
  isTooMuch: string;
}

/** The records that have the words, at most as many as the stretch has. */
const foundSql = (
  { number, matching, exact }: SearchTerms,
  { rows, ms }: Stretch,
  isRanked: boolean,
  parameters: Parameters,
): Found => {
  const most = parameters.add(rows, 'int');
  const wanted = parameters.add(matching, 'tsquery');
  const rank = isRanked
    ? `CASE WHEN ${isInTime} THEN ts_rank(words, ${wanted}, 1) + ts_rank(words, ${parameters.add(exact, 'tsquery')}, 1) END`
    : 'NULL::real';
  return {
    tables: `${deadlineSql(parameters.add(ms, 'int'))}, found AS MATERIALIZED (
      SELECT record_id, ${rank} AS rank FROM search_texts
      WHERE project_id = $1 AND coll_id = $2 AND number = ${parameters.add(number, 'int')} AND words @@ ${wanted}
      LIMIT ${most} + 1)`,
    isTooMuch: `((SELECT count(*) FROM found) > ${most} OR NOT ${isInTime})`,
  };
};

const joinRecordsSql = (table: string, selection: Selection, parameters: Parameters): string =>
  `${visibleRecordsSql(selection, parameters)} JOIN ${table} ON record_id = id WHERE ${boundsSql(selection, parameters)}`;

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
  stretch: Stretch,
): Statement => {
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const { sort, after } = query;
  const isRanked = sort.fields.some(({ field }) => field === rankField);
  const { tables, isTooMuch } = foundSql(terms, stretch, isRanked, parameters);
  const keys = sort.fields.map((field) =>
    field.field === rankField ? 'to_jsonb(rank)' : sortKeySql(field, parameters),
  );
  const position = after && afterSql(sort, keys, positionSql(after, query, keys, parameters));
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const page = `ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`;
  const conditions = conditionsSql(query, parameters);
  const isByWords = sort === byRank && isAll(query, conditions);
  const read = (table: string, tests: readonly (string | undefined)[], end: string) =>
    `SELECT *${keyColumns} FROM (SELECT ${recordColumns}${readableColumns(query)}, rank FROM ${joinRecordsSql(table, query, parameters)}) records
      WHERE ${fitsSql(tests)} ${end}`;
  // Where words alone decide, only what the page shows is read of the records, and put in order as numbers.
  const best = `, best AS MATERIALIZED (SELECT record_id, rank FROM (SELECT *, record_id AS id FROM found) found
      WHERE ${position ?? 'true'} ORDER BY rank DESC, id DESC LIMIT ${limit} + 1 OFFSET ${offset})`;
  const rows = isByWords
    ? read('best', [], `ORDER BY ${orderSql(sort)}`)
    : read('found', [...conditions, position], page);
  const text = pageSql(rows, keys.length, limit, pageBytes, {
    isUnfinished: isTooMuch,
    isExceeded: 'false',
  });
  return {
    text: `WITH ${tables}${isByWords ? best : ''} SELECT page.*, ${epochSql} AS epoch FROM (${text}) page`,
    values: parameters.values,
  };
};

const isAll = ({ filter }: Selection, conditions: readonly string[]): boolean =>
  conditions.length === 0 && filter.bounds.length === 0;

/** `count`, `unfinished` and `epoch`. */
export const searchCountStatement = (
  selection: Selection,
  terms: SearchTerms,
  stretch: Stretch,
): Statement => {
  const parameters = startParameters(selection.collection);
  const { tables, isTooMuch } = foundSql(terms, stretch, false, parameters);
  const conditions = conditionsSql(selection, parameters);
  const rows = isAll(selection, conditions)
    ? 'found'
    : `(SELECT ${recordColumns}${readableColumns(selection)} FROM ${joinRecordsSql('found', selection, parameters)}) records`;
  return {
    text: `WITH ${tables} SELECT count(*) FILTER (WHERE ${fitsSql(conditions)}) AS count, ${isTooMuch} AS unfinished, ${epochSql} AS epoch
      FROM ${rows}`,
    values: parameters.values,
  };
};
