import { readableColumns, visibleRecordsSql } from '../collections/field-rules.ts';
import {
  and,
  inCollection,
  isoTimeSql,
  maxPipelinedBytes,
  type Parameters,
  recordJsonSql,
  type Statement,
  startParameters,
} from '../sql.ts';
import { type CursorPosition, maxKeyBytes } from './cursor.ts';
import { allHoldSql, boundsSql, conditionsSql, type Selection } from './selection.ts';
import {
  afterSql,
  directionSql,
  type PositionSql,
  type Sort,
  type SortField,
  sortKeySql,
} from './sort.ts';

export interface ReadLimits {
  /** Most records read where no index leads to the answer. */
  scanRows: number;
  /** A page ends early where its documents are together larger; a single record always fits. */
  pageBytes: number;
}

export interface ListQuery extends Selection {
  sort: Sort;
  limit: number;
  offset: number;
  after: CursorPosition | undefined;
  until?: CursorPosition | undefined;
}

export interface Stretch {
  rows: number;
  ms: number;
}

export const recordColumns = 'id, owner_id, group_id, created_at, updated_at, data, size_bytes';

const anyTimeMs = 60_000;

export const deadlineSql = (ms: string): string =>
  `deadline AS MATERIALIZED (SELECT clock_timestamp() + ${ms} * interval '1 ms' AS at)`;
export const isInTime = 'clock_timestamp() < (SELECT at FROM deadline)';

/**
 * One statement that returns `items`, `ids`, `sizes`, `more`, `last_id`, `last_keys`, `cut`, `exceeded` and
 * `unfinished`. Its inner query finds one row more than the page shows. `items` is null where the
 * documents are large: then they are read by their ids. `cut` is true where the page is shorter for
 * its size, `exceeded` where more rows had to be read than any list may, `unfinished` where the stretch
 * ended first; then the page is none.
 */
export const listStatement = (
  query: ListQuery,
  limits: ReadLimits,
  stretch: Stretch = { rows: limits.scanRows, ms: anyTimeMs },
): Statement => {
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const bounds = boundsSql(query, parameters);
  const conditions = conditionsSql(query, parameters);
  const visibleRecords = visibleRecordsSql(query, parameters);
  const { sort } = query;
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const position = (cursor: CursorPosition) =>
    afterSql(sort, keys, positionSql(cursor, query, keys, parameters));
  const after = query.after && position(query.after);
  const until = query.until && `NOT ${position(query.until)}`;
  const order = orderSql(sort);
  const page = `ORDER BY ${order} LIMIT ${limit} + 1 OFFSET ${offset}`;
  const asPage = (rows: string, isUnfinished: string, isExceeded: string) =>
    pageSql(rows, keys.length, limit, pageBytes, { isUnfinished, isExceeded });

  if (keys.length === 0 && conditions.length === 0) {
    const rows = `SELECT ${recordColumns} FROM ${visibleRecords} WHERE ${and([bounds, after])} ${page}`;
    return { text: asPage(rows, 'false', 'false'), values: parameters.values };
  }
  const rowsAtOnce = parameters.add(Math.min(stretch.rows, limits.scanRows), 'int');
  const countedRows = keys.length === 0 ? rowsAtOnce : parameters.add(limits.scanRows, 'int');
  const scan = and([bounds, keys.length === 0 ? after : undefined]);
  const start = `WITH ${deadlineSql(parameters.add(stretch.ms, 'int'))}, scan AS MATERIALIZED (
    SELECT count(*) AS rows FROM (SELECT FROM records WHERE ${scan} LIMIT ${countedRows} + 1) rows)`;
  const source = `SELECT ${recordColumns}${readableColumns(query)} FROM ${visibleRecords} WHERE ${scan}`;
  const tests = keys.length === 0 ? conditions : [...conditions, after, until];
  const fits = `CASE WHEN ${isInTime} THEN ${allHoldSql(query, tests)} ELSE false END`;
  // Time only goes forward: where it is not over at the end, it was not while a row was looked at.
  const isUnfinished = `((SELECT rows FROM scan) > ${rowsAtOnce} OR NOT ${isInTime})`;
  if (keys.length === 0) {
    // The scan ends with the page; only a page that is not full has to know whether it was cut short.
    const rows = `SELECT * FROM (${source} ORDER BY ${order} LIMIT ${rowsAtOnce}) records WHERE ${fits} ${page}`;
    const text = asPage(rows, `count(*) <= ${limit} AND ${isUnfinished}`, 'false');
    return { text: `${start} ${text}`, values: parameters.values };
  }
  const keyColumns = keys.map((key, i) => `${key} AS s${i}`).join(', ');
  const rows = `SELECT *, ${keyColumns} FROM (${source} AND (SELECT rows FROM scan) <= ${rowsAtOnce}) records
    WHERE ${fits} ${page}`;
  const text = asPage(rows, isUnfinished, `(SELECT rows FROM scan) > ${countedRows}`);
  return { text: `${start} ${text}`, values: parameters.values };
};

export const orderSql = (sort: Sort): string =>
  [
    ...sort.fields.map((field, i) => `s${i} ${directionSql(field.descending)}`),
    `id ${directionSql(sort.idDescending)}`,
  ].join(', ');

/** Aggregates the rows to one: the JSON of those that the page shows, and where it ends. */
export const pageSql = (
  rows: string,
  keyCount: number,
  limit: string,
  pageBytes: string,
  { isUnfinished, isExceeded }: { isUnfinished: string; isExceeded: string },
) => {
  const shown = 'FILTER (WHERE shown)';
  const small = `FILTER (WHERE shown AND bytes <= ${maxPipelinedBytes})`;
  const last = (value: string) => `(array_agg(${value}) ${shown})[count(*) ${shown}]`;
  const keys = Array.from({ length: keyCount }, (_, i) => last(cursorKeySql(`s${i}`)));
  return `SELECT CASE WHEN count(*) ${small} = count(*) ${shown}
      THEN '[' || coalesce(string_agg(${recordJsonSql('created')}, ',') ${small}, '') || ']' END AS items,
    coalesce(array_agg(id::text) ${shown}, '{}') AS ids,
    coalesce(array_agg(size_bytes) ${shown}, '{}') AS sizes,
    count(*) > count(*) ${shown} AS more,
    ${last('id')} AS last_id,
    ARRAY[${keys.join(', ')}]::text[] AS last_keys,
    ${isUnfinished} AS unfinished,
    ${isExceeded} AS exceeded,
    count(*) > count(*) ${shown} AND count(*) ${shown} < ${limit} AS cut
  FROM (SELECT *, ${isoTimeSql('created_at')} AS created, sum(size_bytes) OVER page AS bytes,
      row_number() OVER page <= ${limit}
      AND (row_number() OVER page = 1 OR sum(size_bytes) OVER page <= ${pageBytes}) AS shown
    FROM (${rows}) rows WINDOW page AS (ROWS UNBOUNDED PRECEDING)) page`;
};

/** A key as the cursor keeps it: whole after `=`, or cut after `~`. */
const cursorKeySql = (key: string): string =>
  `CASE WHEN octet_length(${key}::text) <= ${maxKeyBytes} THEN '=' || ${key}::text ELSE '~' || records.slot_key(${key})::text END`;

export const positionSql = (
  { keys, id }: CursorPosition,
  { sort, ...selection }: Pick<ListQuery, 'sort' | 'access' | 'collection'>,
  expressions: readonly string[],
  parameters: Parameters,
): PositionSql => {
  const idSql = parameters.add(id, 'uuid');
  const keySql = (field: SortField, i: number) => {
    const { text = 'null', isCut = false } = keys[i] ?? {};
    const value = parameters.add(text, 'jsonb');
    if (!isCut) return value;
    const key = expressions[i];
    const behind = field.descending ? `to_jsonb((${value} #>> '{}') || U&'\\+10FFFF')` : value;
    return `coalesce((SELECT ${key} FROM ${visibleRecordsSql(selection, parameters)} WHERE ${inCollection} AND id = ${idSql} AND records.slot_key(${key}) = ${value}), ${behind})`;
  };
  return { keys: sort.fields.map(keySql), id: idSql };
};
