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
import {
  type Branch,
  fitsSql,
  isCutKeySql,
  jsonb,
  lookedAtSql,
  pointKey,
  toBranches,
} from './branches.ts';
import { type Driver, isNested, isSlotOrder } from './drivers.ts';
import { isWholeKey, keyOfText, mayHaveCutKeys } from './key-ranges.ts';
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
): StatementParts =>
  query.sort.fields.length === 0 || isSlotOrder(query.sort)
    ? orderedWalk(query, driver, parameters, size)
    : tiedWalk(query, driver, parameters, size);

/** The slot's order is the list's, but for long texts that share a key. */
const orderedWalk = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  { limit, offset, rows }: PageSize,
): StatementParts => {
  const { sort, after } = query;
  const [field] = sort.fields;
  const afterKey = field && after?.keys[0];
  const isAmongTexts = afterKey && (afterKey.isCut || !isWholeKey(JSON.parse(afterKey.text)));
  const afterId = after && !isAmongTexts ? parameters.add(after.id, 'uuid') : undefined;
  const sign = sort.idDescending ? '<' : '>';
  const direction = directionSql(sort.idDescending);
  const branches = toBranches(query, driver, parameters, (column, range) => {
    if (isAmongTexts) return `${column} ${sign}= ${jsonb(keyOfText(afterKey.text), parameters)}`;
    const key = afterKey?.text ?? pointKey(range);
    return afterId && key && `(${column}, id) ${sign} (${jsonb(key, parameters)}, ${afterId})`;
  });
  const keys = sort.fields.map((sorted) => sortKeySql(sorted, parameters));
  const position = isAmongTexts
    ? afterSql(sort, keys, positionSql(after, query, keys, parameters))
    : undefined;
  const tests = [...conditionsSql(query, parameters), position];
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const most = `${limit} + ${offset} + 1`;
  const walkSql = ({ table, column, columns, where, isNew }: Branch) =>
    `SELECT ${walkColumns}${keyColumns} FROM (SELECT ${recordColumns}, ${column} AS slot_key${columns} FROM ${table}
        WHERE ${where} ORDER BY ${column} ${direction}, id ${direction} LIMIT ${rows}) records
      WHERE ${fitsSql([isNew, ...tests])}`;
  const isCutShort = (branch: Branch) =>
    `(${lookedAtSql(branch, rows)} > ${rows} OR NOT ${isInTime})`;
  const walks = branches.map((branch, i) => {
    const text = `${walkSql(branch)} ORDER BY slot_key ${direction}, id ${direction} LIMIT ${most}`;
    const isShort = (name: string) =>
      `((SELECT count(*) FROM ${name}) < ${most} AND ${isCutShort(branch)})`;
    if (!field || !mayHaveCutKeys(branch.range))
      return { tables: [`b${i} AS MATERIALIZED (${text})`], isShort: [isShort(`b${i}`)] };
    const walked = `walked${i}`;
    const { column, where } = branch;
    // Of the texts that share the last key the walk has seen those with the first ids.
    const last = `(SELECT slot_key FROM last${i})`;
    const tied = { ...branch, where: `${where} AND ${column} >= ${last} AND ${column} <= ${last}` };
    return {
      tables: [
        `${walked} AS MATERIALIZED (${text})`,
        `last${i} AS MATERIALIZED (SELECT slot_key FROM (SELECT slot_key FROM ${walked}
          ORDER BY slot_key ${directionSql(!sort.idDescending)} LIMIT 1) last WHERE ${isCutKeySql})`,
        `b${i} AS MATERIALIZED (SELECT * FROM ${walked} WHERE slot_key IS DISTINCT FROM ${last}
          UNION ALL ${walkSql(tied)})`,
      ],
      isShort: [isShort(walked), `(${last} IS NOT NULL AND ${isCutShort(tied)})`],
    };
  });
  const isShort = walks.flatMap((walk) => walk.isShort);
  return {
    tables: walks.flatMap(({ tables }) => tables),
    page: `SELECT * FROM (${unionBranches(branches)}) found ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: keys.length,
    isUnfinished: `(${[...isShort, ...(field ? hasMarkersSql(query, driver) : [])].join(' OR ')})`,
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
