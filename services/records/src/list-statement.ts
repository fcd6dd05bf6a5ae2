import { type CursorPosition, maxKeyBytes } from './cursor.ts';
import type { Parameters } from './parameters.ts';
import type { ReadLimits } from './read-limits.ts';
import { isoText, recordText } from './record-text.ts';
import { boundsSql, conditionsSql, type Selection, scannedField } from './selection.ts';
import {
  afterSql,
  directionSql,
  type Position,
  type Sort,
  type SortField,
  sortKeySql,
} from './sort.ts';
import { all, inCollection, startParameters } from './statement.ts';

export interface ListQuery extends Selection {
  sort: Sort;
  limit: number;
  offset: number;
  /** Where the page before ended. */
  after: CursorPosition | undefined;
}

export interface ListStatement {
  text: string;
  values: readonly unknown[];
  /** What makes it read more than it shows; undefined where the primary key leads to the answer. */
  scannedFor: string | undefined;
}

const columns = 'id, owner_id, created_at, updated_at, data, size_bytes';

/**
 * One statement that answers `items`, `more`, `last_id`, `last_keys` and `exceeded`. The rows come in
 * the order of the list, one more than the page shows; `exceeded` tells that the scan was cut.
 */
export const listStatement = (query: ListQuery, limits: ReadLimits): ListStatement => {
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const bounds = boundsSql(query, parameters);
  const conditions = conditionsSql(query, parameters);
  const { sort } = query;
  const keys = sort.fields.map((each) => sortKeySql(each, parameters));
  const after =
    query.after && afterSql(sort, keys, positionSql(query.after, sort, keys, parameters));
  const order = [
    ...sort.fields.map((each, i) => `s${i} ${directionSql(each.descending)}`),
    `id ${directionSql(sort.idDescending)}`,
  ].join(', ');
  const page = `ORDER BY ${order} LIMIT ${limit} + 1 OFFSET ${offset}`;
  const fold = (rows: string, exceeded: string) =>
    foldSql(rows, keys.length, limit, pageBytes, exceeded);

  if (keys.length === 0 && conditions.length === 0) {
    const rows = `SELECT ${columns} FROM records WHERE ${all([bounds, after])} ${page}`;
    return { text: fold(rows, 'false'), values: parameters.values, scannedFor: undefined };
  }
  const budget = parameters.add(limits.scanRows, 'int');
  const scan = all([bounds, keys.length === 0 ? after : undefined]);
  const exceeded = `WITH scan AS MATERIALIZED (
    SELECT count(*) > ${budget} AS exceeded FROM (SELECT FROM records WHERE ${scan} LIMIT ${budget} + 1) rows)`;
  const source = `SELECT ${columns} FROM records WHERE ${scan}`;
  const scannedFor = scannedField(query) ?? sort.fields[0]?.field;
  if (keys.length === 0) {
    // The walk ends with the page; only a page that is not full has to know whether it was cut.
    const rows = `SELECT * FROM (${source} ORDER BY ${order} LIMIT ${budget}) records WHERE ${all(conditions)} ${page}`;
    const cut = `count(*) <= ${limit} AND (SELECT exceeded FROM scan)`;
    return { text: `${exceeded} ${fold(rows, cut)}`, values: parameters.values, scannedFor };
  }
  const keyColumns = keys.map((key, i) => `${key} AS s${i}`).join(', ');
  const rows = `SELECT *, ${keyColumns} FROM (${source} AND NOT (SELECT exceeded FROM scan)) records
    WHERE ${all(['true', ...conditions, after])} ${page}`;
  const text = `${exceeded} ${fold(rows, '(SELECT exceeded FROM scan)')}`;
  return { text, values: parameters.values, scannedFor };
};

const foldSql = (
  rows: string,
  keyCount: number,
  limit: string,
  pageBytes: string,
  exceeded: string,
) => {
  const shown = 'FILTER (WHERE shown)';
  const last = (value: string) => `(array_agg(${value}) ${shown})[count(*) ${shown}]`;
  const keys = Array.from({ length: keyCount }, (_, i) => last(cursorKeySql(`s${i}`)));
  return `SELECT '[' || coalesce(string_agg(${recordText('created')}, ',') ${shown}, '') || ']' AS items,
    count(*) > count(*) ${shown} AS more,
    ${last('id')} AS last_id,
    ARRAY[${keys.join(', ')}]::text[] AS last_keys,
    ${exceeded} AS exceeded
  FROM (SELECT *, ${isoText('created_at')} AS created, row_number() OVER page <= ${limit}
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
): Position => {
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
