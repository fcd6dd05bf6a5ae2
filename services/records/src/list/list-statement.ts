import {
  and,
  inCollection,
  isoTimeSql,
  maxPipelinedBytes,
  type Parameters,
  recordJsonSql,
  startParameters,
} from '../sql.ts';
import { type CursorPosition, maxKeyBytes } from './cursor.ts';
import { boundsSql, conditionsSql, type Selection, scannedField } from './selection.ts';
import {
  afterSql,
  directionSql,
  type PositionSql,
  type Sort,
  type SortField,
  sortKeySql,
} from './sort.ts';

/** Bounds on what one statement reads and answers. */
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
  /** Where the previous page ended. */
  after: CursorPosition | undefined;
}

export interface ListStatement {
  text: string;
  values: readonly unknown[];
  /** The field that makes it read more than it returns; undefined where the primary key answers. */
  scannedFor: string | undefined;
}

/** The statement, but with `items` null where they are more than the pipelined connections carry. */
export const smallListStatement = (query: ListQuery, limits: ReadLimits): ListStatement => {
  const pageBytes = Math.min(limits.pageBytes, maxPipelinedBytes);
  const { text, ...statement } = listStatement(query, { ...limits, pageBytes });
  const isSmall = `octet_length(items) <= ${maxPipelinedBytes} AND NOT cut`;
  return {
    ...statement,
    text: `SELECT CASE WHEN ${isSmall} THEN items END AS items, more, last_id FROM (${text}) page`,
  };
};

const columns = 'id, owner_id, created_at, updated_at, data, size_bytes';

/**
 * One statement that returns `items`, `more`, `last_id`, `last_keys`, `exceeded` and `cut`. Its inner
 * query finds one row more than the page shows; `exceeded` is true where the scan was cut short, `cut`
 * where the page was for its size.
 */
export const listStatement = (query: ListQuery, limits: ReadLimits): ListStatement => {
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const bounds = boundsSql(query, parameters);
  const conditions = conditionsSql(query, parameters);
  const { sort } = query;
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const after =
    query.after && afterSql(sort, keys, positionSql(query.after, sort, keys, parameters));
  const order = [
    ...sort.fields.map((field, i) => `s${i} ${directionSql(field.descending)}`),
    `id ${directionSql(sort.idDescending)}`,
  ].join(', ');
  const page = `ORDER BY ${order} LIMIT ${limit} + 1 OFFSET ${offset}`;
  const asPage = (rows: string, exceeded: string) =>
    pageSql(rows, keys.length, limit, pageBytes, exceeded);

  if (keys.length === 0 && conditions.length === 0) {
    const rows = `SELECT ${columns} FROM records WHERE ${and([bounds, after])} ${page}`;
    return { text: asPage(rows, 'false'), values: parameters.values, scannedFor: undefined };
  }
  const scanRows = parameters.add(limits.scanRows, 'int');
  const scan = and([bounds, keys.length === 0 ? after : undefined]);
  const exceeded = `WITH scan AS MATERIALIZED (
    SELECT count(*) > ${scanRows} AS exceeded FROM (SELECT FROM records WHERE ${scan} LIMIT ${scanRows} + 1) rows)`;
  const source = `SELECT ${columns} FROM records WHERE ${scan}`;
  const scannedFor = scannedField(query) ?? sort.fields[0]?.field;
  if (keys.length === 0) {
    // The scan ends with the page; only a page that is not full has to know whether it was cut short.
    const rows = `SELECT * FROM (${source} ORDER BY ${order} LIMIT ${scanRows}) records WHERE ${and(conditions)} ${page}`;
    const cut = `count(*) <= ${limit} AND (SELECT exceeded FROM scan)`;
    return { text: `${exceeded} ${asPage(rows, cut)}`, values: parameters.values, scannedFor };
  }
  const keyColumns = keys.map((key, i) => `${key} AS s${i}`).join(', ');
  const rows = `SELECT *, ${keyColumns} FROM (${source} AND NOT (SELECT exceeded FROM scan)) records
    WHERE ${and(['true', ...conditions, after])} ${page}`;
  const text = `${exceeded} ${asPage(rows, '(SELECT exceeded FROM scan)')}`;
  return { text, values: parameters.values, scannedFor };
};

/** Aggregates the rows to one: the JSON of those that the page shows, and where it ends. */
const pageSql = (
  rows: string,
  keyCount: number,
  limit: string,
  pageBytes: string,
  exceeded: string,
) => {
  const shown = 'FILTER (WHERE shown)';
  const last = (value: string) => `(array_agg(${value}) ${shown})[count(*) ${shown}]`;
  const keys = Array.from({ length: keyCount }, (_, i) => last(cursorKeySql(`s${i}`)));
  return `SELECT '[' || coalesce(string_agg(${recordJsonSql('created')}, ',') ${shown}, '') || ']' AS items,
    count(*) > count(*) ${shown} AS more,
    ${last('id')} AS last_id,
    ARRAY[${keys.join(', ')}]::text[] AS last_keys,
    ${exceeded} AS exceeded,
    count(*) > count(*) ${shown} AND count(*) ${shown} < ${limit} AS cut
  FROM (SELECT *, ${isoTimeSql('created_at')} AS created, row_number() OVER page <= ${limit}
      AND (row_number() OVER page = 1 OR sum(size_bytes) OVER page <= ${pageBytes}) AS shown
    FROM (${rows}) rows WINDOW page AS (ROWS UNBOUNDED PRECEDING)) page`;
};

/** A key as the cursor keeps it: whole after `=`, or cut after `~`. */
const cursorKeySql = (key: string): string =>
  `CASE WHEN octet_length(${key}::text) <= ${maxKeyBytes} THEN '=' || ${key}::text ELSE '~' || slot_key(${key})::text END`;

const positionSql = (
  { keys, id }: CursorPosition,
  sort: Sort,
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
    return `coalesce((SELECT ${key} FROM records WHERE ${inCollection} AND id = ${idSql} AND slot_key(${key}) = ${value}), ${behind})`;
  };
  return { keys: sort.fields.map(keySql), id: idSql };
};
