import { visibleRecordsSql } from '../../collections/field-rules.ts';
import {
  and,
  inCollection,
  isoTimeSql,
  maxPipelinedBytes,
  type Parameters,
  recordJsonSql,
} from '../../sql.ts';
import { type ListQuery, orderSql, type ReadLimits, recordColumns } from '../list-statement.ts';
import { afterSql } from '../sort.ts';
import { createKeptStatements, type NamedStatement } from './kept-statements.ts';

/** What a record has beside its document, at most. */
export const ownFieldsBytes = 256;

/** Pages up to this size are fast enough for the pipelined connection, where others wait behind them. */
export const maxPipelinedLimit = 100;

/**
 * A page by the primary key alone, with `items` null where the documents are more than a page or the pipelined
 * connections carry. `$3` is its limit, `$4` the id where the previous page ended.
 * Limits stand in it three times because PostgreSQL takes an unknown one for a tenth of the rows, and keeps a plan for
 * all values only where that seems no dearer than planning anew.
 */
export const smallListText = (
  query: Omit<ListQuery, 'filter'>,
  limits: ReadLimits,
  parameters: Parameters,
): string => {
  const mostBytes = Math.min(limits.pageBytes, maxPipelinedBytes);
  const limit = '$3::int';
  const { sort, after } = query;
  const isAfter = after && afterSql(sort, [], { keys: [], id: '$4::uuid' });
  return `WITH page AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM (
        SELECT ${recordColumns} FROM ${visibleRecordsSql(query, parameters)} WHERE ${and([inCollection, isAfter])}
        ORDER BY ${orderSql(sort)} LIMIT ${maxPipelinedLimit} + 1) page LIMIT ${limit} + 1) page LIMIT ${limit} + 1),
    found AS (
      SELECT count(*) AS rows, coalesce(sum(size_bytes), 0) AS bytes, array_agg(id) AS ids FROM page),
    shown AS (SELECT *, ${isoTimeSql('created_at')} AS created FROM page LIMIT ${limit})
    SELECT CASE WHEN bytes + rows * ${ownFieldsBytes} <= ${mostBytes}
        THEN (SELECT '[' || coalesce(string_agg(${recordJsonSql('created')}, ','), '') || ']' FROM shown) END,
      rows > ${limit}, ids[least(rows, ${limit})] FROM found`;
};

/** Pages by the primary key alone, prepared; undefined where there are too many such statements. */
export const createSmallLists = (limits: ReadLimits) => {
  const prepare = createKeptStatements('records_list');
  return (query: ListQuery): NamedStatement | undefined => {
    const { collection, sort, limit, after } = query;
    const statement = prepare(
      query,
      `${sort.idDescending ? 'newest' : 'oldest'}${after ? ' after' : ''}`,
      [collection.projectNumber, collection.id, limit, ...(after ? [after.id] : [])],
      (anyone, parameters) => smallListText({ ...query, access: anyone }, limits, parameters),
    );
    return statement.name === '' ? undefined : statement;
  };
};
