import { readableColumns, visibleRecordsSql } from '../collections/field-rules.ts';
import { and, type Parameters, type Statement, startParameters } from '../sql.ts';
import {
  deadlineSql,
  isInTime,
  type ListQuery,
  orderSql,
  positionSql,
  recordColumns,
  type Stretch,
} from './list-statement.ts';
import { allHoldSql, boundsSql, conditionsSql, dataTests, type Selection } from './selection.ts';
import { afterSql, directionSql, sortKeySql } from './sort.ts';

/** A piece of a scan: the records from `from` on, in the order of the primary key. */
export interface Piece extends Stretch {
  /** Undefined at the scan's beginning. */
  from: string | undefined;
  /** Of documents, times the tests that look into each: it ends before the record behind which they are exceeded. */
  bytes: number;
}

export interface PieceEnd {
  /** The record that the following piece begins with; null behind the last one. */
  next: string | null;
  looked: number;
}

/** A record that a scan keeps: its id, its size, and its sort keys as JSON text. */
export type Kept = [id: string, sizeBytes: number, ...keys: string[]];

/** What `findInPiece` and `sortPiece` answer. */
export interface FoundInPiece extends PieceEnd {
  kept: Kept[];
}

interface Walk {
  /** WITH and the tables `ends` and `looked`: what fits, and `fits IS NULL` where the time was over. */
  tables: string;
  /** Two columns: `next`, where the following piece begins, and `looked`, how many records this one had. */
  columns: string;
}

/**
 * Reads at most the piece's rows and looks at as many as its bytes and its time allow, at one at least. Only what
 * fits is kept, with the columns `kept` and at most `most` of it.
 */
export const walkSql = (
  selection: Selection,
  { from, rows, bytes, ms }: Piece,
  parameters: Parameters,
  {
    descending,
    kept,
    tests,
    scanned,
    most,
  }: {
    descending: boolean;
    kept: readonly string[];
    tests: readonly (string | undefined)[];
    scanned?: string | undefined;
    most?: string;
  },
): Walk => {
  const start = from && `id ${descending ? '<=' : '>='} ${parameters.add(from, 'uuid')}`;
  const scan = and([boundsSql(selection, parameters), scanned, start]);
  const order = `ORDER BY id ${directionSql(descending)}`;
  const size = parameters.add(rows, 'int');
  const visibleRecords = visibleRecordsSql(selection, parameters);
  const deadline = deadlineSql(parameters.add(ms, 'int'));
  const mostBytes = parameters.add(Math.floor(bytes / (1 + dataTests(selection))), 'int8');
  const isBefore = `coalesce(id ${descending ? '>' : '<'} (SELECT heavy FROM ends), true)`;
  const isLookedAt = `(id = (SELECT ids[1] FROM ends) OR ${isBefore} AND ${isInTime})`;
  return {
    tables: `WITH ${deadline}, ends AS MATERIALIZED (
        SELECT array_agg(id) AS ids, (array_agg(id) FILTER (WHERE bytes > ${mostBytes} AND n > 1))[1] AS heavy FROM (
          SELECT id, row_number() OVER run AS n, sum(size_bytes) OVER run AS bytes FROM (
            SELECT id, size_bytes FROM records WHERE ${scan} ${order} LIMIT ${size} + 1) rows
          WINDOW run AS (ROWS UNBOUNDED PRECEDING)) rows),
      looked AS MATERIALIZED (
        SELECT ${['id', 'fits', ...kept].join(', ')} FROM (
          SELECT *, CASE WHEN ${isLookedAt} THEN ${allHoldSql(selection, tests)} IS TRUE END AS fits
          FROM (SELECT ${recordColumns}${readableColumns(selection)} FROM ${visibleRecords} WHERE ${scan} ${order} LIMIT ${size}) records OFFSET 0) records
        WHERE fits IS NOT FALSE ${most === undefined ? '' : `LIMIT ${most}`}),
      stop AS MATERIALIZED (
        SELECT next::text, coalesce(array_position(ids, next) - 1, cardinality(ids), 0) AS looked FROM (
          SELECT ids, coalesce((SELECT id FROM looked WHERE fits IS NULL ${order} LIMIT 1), ids[${size} + 1]) AS next
          FROM ends) ends)`,
    columns: '(SELECT next FROM stop) AS next, (SELECT looked FROM stop) AS looked',
  };
};

/** Counts the piece's rows by the primary key alone; its time is not looked at. */
export const countWholePiece = (selection: Selection, { from, rows }: Piece): Statement => {
  const parameters = startParameters(selection.collection);
  const start = from && `id <= ${parameters.add(from, 'uuid')}`;
  const keys = `FROM records WHERE ${and([boundsSql(selection, parameters), start])} ORDER BY id DESC`;
  const size = parameters.add(rows, 'int');
  return {
    text: `SELECT count(*) AS looked, (SELECT id::text ${keys} OFFSET ${size} LIMIT 1) AS next
      FROM (SELECT ${keys} LIMIT ${size}) piece`,
    values: parameters.values,
  };
};

export const countPiece = (selection: Selection, piece: Piece): Statement => {
  const parameters = startParameters(selection.collection);
  const tests = conditionsSql(selection, parameters);
  const walk = walkSql(selection, piece, parameters, { descending: true, kept: [], tests });
  return {
    text: `${walk.tables} SELECT ${walk.columns}, count(*) FILTER (WHERE fits) AS matching FROM looked`,
    values: parameters.values,
  };
};

const keptSql = (columns: readonly string[]): string =>
  `json_build_array(${['id', 'size_bytes', ...columns].join(', ')})`;

/** Finds what fits in the order of the primary key, at most `most` records: `kept`. */
export const findInPiece = (query: ListQuery, piece: Piece, most: number): Statement => {
  const parameters = startParameters(query.collection);
  const tests = conditionsSql(query, parameters);
  const descending = query.sort.idDescending;
  const after =
    query.after && afterSql(query.sort, [], positionSql(query.after, query, [], parameters));
  const walk = walkSql(query, piece, parameters, {
    descending,
    tests,
    kept: ['size_bytes'],
    scanned: after,
    most: parameters.add(most, 'int'),
  });
  return {
    text: `${walk.tables} SELECT ${walk.columns},
      coalesce(json_agg(${keptSql([])}) FILTER (WHERE fits), '[]') AS kept FROM looked`,
    values: parameters.values,
  };
};

/** The best `most` of what was kept and of what the piece has: `kept`, in order. */
export const sortPiece = (
  query: ListQuery,
  piece: Piece,
  kept: readonly Kept[],
  most: number,
): Statement => {
  const parameters = startParameters(query.collection);
  const { sort } = query;
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const after =
    query.after && afterSql(sort, keys, positionSql(query.after, query, keys, parameters));
  const keyColumns = keys.map((_, i) => `s${i}`);
  const columns = ['id', 'size_bytes', ...keyColumns].join(', ');
  const walk = walkSql(query, piece, parameters, {
    descending: true,
    kept: ['size_bytes', ...keys.map((key, i) => `CASE WHEN fits THEN ${key} END AS s${i}`)],
    tests: [...conditionsSql(query, parameters), after],
  });
  const keptColumns = keys.map((_, i) => `(kept ->> ${i + 2})::jsonb`);
  const keptRows = ['(kept ->> 0)::uuid', '(kept ->> 1)::int', ...keptColumns].join(', ');
  const keptJson = parameters.add(JSON.stringify(kept), 'json');
  return {
    text: `${walk.tables}, best AS MATERIALIZED (
        SELECT * FROM (
          SELECT ${columns} FROM looked WHERE fits
          UNION ALL SELECT ${keptRows} FROM json_array_elements(${keptJson}) kept) candidates
        ORDER BY ${orderSql(sort)} LIMIT ${parameters.add(most, 'int')})
      SELECT ${walk.columns},
        coalesce(json_agg(${keptSql(keyColumns.map((key) => `${key}::text`))}), '[]') AS kept FROM best`,
    values: parameters.values,
  };
};
