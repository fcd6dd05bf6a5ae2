import { recordsTable } from '../giants/records-table.ts';
import {
  isInTime,
  type ListQuery,
  orderSql,
  positionSql,
  recordColumns,
} from '../list/list-statement.ts';
import { conditionsSql } from '../list/selection.ts';
import { afterSql, directionSql, sortKeySql } from '../list/sort.ts';
import { inCollection, type Parameters } from '../sql.ts';
import { type Branch, fitsSql, jsonb, lookedAtSql, pointKey, toBranches } from './branches.ts';
import { type Driver, isNested, isSlotOrder } from './drivers.ts';
import { isWholeKey, keyOfText, maxKeyLength } from './key-ranges.ts';
import { slotColumn } from './slots.ts';

export interface StatementParts {
  tables: string[];
  page: string;
  keyCount: number;
  isUnfinished: string;
}

export interface PageSize {
  limit: string;
  offset: string;
  rows: string;
}

/** Each branch is read in the slot's order until it has enough for the page. */
export const walkStatement = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  size: PageSize,
): StatementParts | undefined =>
  query.sort.fields.length === 0 || isSlotOrder(query.sort)
    ? orderedWalk(query, driver, parameters, size)
    : tiedWalk(query, driver, parameters, size);

/** The slot's order is the list's. */
const orderedWalk = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  { limit, offset, rows }: PageSize,
): StatementParts | undefined => {
  const { sort, after } = query;
  const [field] = sort.fields;
  const afterKey = field && after?.keys[0];
  if (afterKey && (afterKey.isCut || !isWholeKey(JSON.parse(afterKey.text)))) return undefined;
  const afterId = after && parameters.add(after.id, 'uuid');
  const sign = sort.idDescending ? '<' : '>';
  const direction = directionSql(sort.idDescending);
  const branches = toBranches(query, driver, parameters, (column, range) => {
    const key = afterKey?.text ?? pointKey(range);
    return afterId && key && `(${column}, id) ${sign} (${jsonb(key, parameters)}, ${afterId})`;
  });
  const tests = conditionsSql(query, parameters);
  const key = field ? `, ${sortKeySql(field, parameters)} AS s0` : '';
  const most = `${limit} + ${offset} + 1`;
  const tables = branches.map(
    ({ table, column, columns, where, isNew }, i) => `b${i} AS MATERIALIZED (
      SELECT ${walkColumns}${key} FROM (SELECT ${recordColumns}, ${column} AS slot_key${columns} FROM ${table}
        WHERE ${where} ORDER BY ${column} ${direction}, id ${direction} LIMIT ${rows}) records
      WHERE ${fitsSql([isNew, ...tests])} ORDER BY slot_key ${direction}, id ${direction} LIMIT ${most})`,
  );
  const isShort = branches.map(
    (branch, i) => `((SELECT count(*) FROM b${i}) < ${most}
      AND (${lookedAtSql(branch, rows)} > ${rows} OR NOT ${isInTime}))`,
  );
  // Long texts share a key: their order is not the slot's.
  const hasCutKeys = `coalesce(bool_or(jsonb_typeof(slot_key) = 'string' AND length(slot_key #>> '{}') >= ${maxKeyLength}), false)`;
  const order = field ? `slot_key ${direction}, id ${direction}` : `id ${direction}`;
  return {
    tables,
    page: `SELECT * FROM (${unionBranches(branches)}) found ORDER BY ${order} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: field ? 1 : 0,
    isUnfinished: `(${[...isShort, ...(field ? [hasCutKeys, ...hasMarkersSql(query, driver)] : [])].join(' OR ')})`,
  };
};

const walkColumns = `${recordColumns}, slot_key`;

const unionBranches = (branches: readonly Branch[]): string =>
  branches.map((_, i) => `SELECT * FROM b${i}`).join(' UNION ALL ');

/** Where there is one, the order of a nested field is not the slot's. */
const hasMarkersSql = ({ collection }: ListQuery, { ways }: Driver): string[] =>
  ways
    .filter(({ slot }) => isNested(slot))
    .map(
      ({ slot }) =>
        `EXISTS (SELECT FROM ${recordsTable(collection)} WHERE ${inCollection} AND ${slotColumn(slot)} = '[]')`,
    );

/** The slot has the order of the list's first field alone: of the last key that a page needs all is read and sorted. */
const tiedWalk = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  { limit, offset, rows }: PageSize,
): StatementParts => {
  const { sort, after } = query;
  const descending = sort.fields[0]?.descending ?? false;
  const direction = directionSql(descending);
  const [sign, extremeKey] = descending ? ['<=', '[]'] : ['>=', 'true'];
  const afterKey = after?.keys[0] && jsonb(keyOfText(after.keys[0].text), parameters);
  const branches = toBranches(
    query,
    driver,
    parameters,
    (column) => afterKey && `${column} ${sign} ${afterKey}`,
  );
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const position = after && afterSql(sort, keys, positionSql(after, query, keys, parameters));
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const tests = [...conditionsSql(query, parameters), position];
  const most = `${limit} + ${offset} + 1`;
  const tables = branches.map(
    ({ table, column, columns, where, isNew }, i) => `b${i} AS MATERIALIZED (
      SELECT ${walkColumns}${keyColumns} FROM (SELECT ${recordColumns}, ${column} AS slot_key${columns} FROM ${table}
        WHERE ${where} ORDER BY ${column} ${direction} LIMIT ${rows}) records
      WHERE ${fitsSql([isNew, ...tests])} ORDER BY slot_key ${direction} FETCH FIRST (${most}) ROWS WITH TIES)`,
  );
  const opposite = directionSql(!descending);
  const isShort = branches.map(
    ({ table, column, where }, i) => `(SELECT count(*) FROM (SELECT FROM ${table}
      WHERE ${where} AND ${column} ${descending ? '>=' : '<='} CASE WHEN (SELECT count(*) FROM b${i}) < ${most} THEN '${extremeKey}'
        ELSE (SELECT slot_key FROM b${i} ORDER BY slot_key ${opposite} LIMIT 1) END
      ORDER BY ${column} ${direction} LIMIT ${rows} + 1) looked) > ${rows}`,
  );
  return {
    tables,
    page: `SELECT * FROM (${unionBranches(branches)}) found ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: keys.length,
    isUnfinished: `(${[`NOT ${isInTime}`, ...isShort, ...hasMarkersSql(query, driver)].join(' OR ')})`,
  };
};
