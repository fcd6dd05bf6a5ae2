import type { Parameters } from '../../sql.ts';
import { isInTime, type ListQuery, orderSql, positionSql } from '../list-statement.ts';
import { conditionsSql } from '../selection.ts';
import { afterSql, directionSql, sortKeySql } from '../sort.ts';
import {
  type Branch,
  type Found,
  fitsSql,
  isCutKeySql,
  jsonb,
  lookedAtSql,
  pointKey,
  toBranches,
  type Walk,
  walkedSql,
} from './branches.ts';
import { type Driver, isNested, isSlotOrder } from './drivers.ts';
import { isWholeKey, type KeyRange, keyOfText, markers, mayHaveCutKeys } from './key-ranges.ts';

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
  { limit, offset, rows }: PageSize,
): StatementParts => {
  const { sort, after } = query;
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const walk: Walk = {
    query,
    parameters,
    rows,
    most: `${limit} + ${offset} + 1`,
    keyColumns: keys.map((key, i) => `, ${key} AS s${i}`).join(''),
    tests: conditionsSql(query, parameters),
    position: () => after && afterSql(sort, keys, positionSql(after, query, keys, parameters)),
  };
  const follow = keys.length === 0 || isSlotOrder(sort) ? orderedWalk : tiedWalk;
  const isAstray = keys.length > 0 && driver.ways.some(({ slot }) => isNested(slot));
  const found = isAstray
    ? [follow(walk, withoutMarkers(driver)), strays(walk, driver)]
    : [follow(walk, driver)];
  const names = found.flatMap((part) => part.names);
  return {
    tables: found.flatMap(({ tables }) => tables),
    page: `SELECT * FROM (${names.map((name) => `SELECT * FROM ${name}`).join(' UNION ALL ')}) found
      ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: keys.length,
    isUnfinished: `(${found.flatMap(({ isShort }) => isShort).join(' OR ')})`,
  };
};

const withoutMarkers = (driver: Driver): Driver => {
  const toScalars = (range: KeyRange): KeyRange =>
    range.kind === 'all' ? { kind: 'scalars' } : range;
  const ways = driver.ways.map(({ slot, ranges }) => ({
    slot,
    ranges: ranges.filter((range) => range !== markers).map(toScalars),
  }));
  return { ...driver, ways };
};

/**
 * Records with an array or object on the way to a nested field, or at its end: they have one key, and any place in a
 * sort by it. All of them are read.
 */
const strays = (walk: Walk, { kind, ways }: Driver): Found => {
  const { query, parameters, tests, rows, most } = walk;
  const marked = { kind, ways: ways.map(({ slot }) => ({ slot, ranges: [markers] })) };
  const branches = toBranches(query, marked, parameters);
  const names = branches.map((_, i) => `strays${i}`);
  return {
    names,
    tables: branches.map(
      (branch, i) => `${names[i]} AS MATERIALIZED (${walkedSql(walk, branch, '')}
        WHERE ${fitsSql([...tests, walk.position()])} ORDER BY ${orderSql(query.sort)} LIMIT ${most})`,
    ),
    isShort: [
      `NOT ${isInTime}`,
      ...branches.map((branch) => `${lookedAtSql(branch, rows)} > ${rows}`),
    ],
  };
};

/** The slot's order is the list's, but for long texts that share a key. */
const orderedWalk = (walk: Walk, driver: Driver): Found => {
  const { query, parameters, most, rows } = walk;
  const { sort, after } = query;
  const afterKey = sort.fields.length > 0 ? after?.keys[0] : undefined;
  const isAmongTexts = afterKey && (afterKey.isCut || !isWholeKey(JSON.parse(afterKey.text)));
  const sign = sort.idDescending ? '<' : '>';
  const direction = directionSql(sort.idDescending);
  const branches = toBranches(query, driver, parameters, (column, range) => {
    if (isAmongTexts) return `${column} ${sign}= ${jsonb(keyOfText(afterKey.text), parameters)}`;
    const key = afterKey?.text ?? pointKey(range);
    if (!after || !key) return undefined;
    return `(${column}, id) ${sign} (${jsonb(key, parameters)}, ${parameters.add(after.id, 'uuid')})`;
  });
  const tests = [...walk.tests, isAmongTexts ? walk.position() : undefined];
  const walkSql = (branch: Branch) =>
    `${walkedSql(walk, branch, `ORDER BY ${branch.column} ${direction}, id ${direction}`)}
      WHERE ${fitsSql([branch.isNew, ...tests])}`;
  const isCutShort = (branch: Branch) =>
    `(${lookedAtSql(branch, rows)} > ${rows} OR NOT ${isInTime})`;
  const found = branches.map((branch, i) => {
    const text = `${walkSql(branch)} ORDER BY slot_key ${direction}, id ${direction} LIMIT ${most}`;
    const isShort = (name: string) =>
      `((SELECT count(*) FROM ${name}) < ${most} AND ${isCutShort(branch)})`;
    if (sort.fields.length === 0 || !mayHaveCutKeys(branch.range))
      return { tables: [`b${i} AS MATERIALIZED (${text})`], isShort: [isShort(`b${i}`)] };
    const { column, where } = branch;
    // Of the texts that share the last key the walk has seen those with the first ids.
    const last = `(SELECT slot_key FROM last${i})`;
    const tied = { ...branch, where: `${where} AND ${column} >= ${last} AND ${column} <= ${last}` };
    return {
      tables: [
        `walked${i} AS MATERIALIZED (${text})`,
        `last${i} AS MATERIALIZED (SELECT slot_key FROM (SELECT slot_key FROM walked${i}
          ORDER BY slot_key ${directionSql(!sort.idDescending)} LIMIT 1) last WHERE ${isCutKeySql})`,
        `b${i} AS MATERIALIZED (SELECT * FROM walked${i} WHERE slot_key IS DISTINCT FROM ${last}
          UNION ALL ${walkSql(tied)})`,
      ],
      isShort: [isShort(`walked${i}`), `(${last} IS NOT NULL AND ${isCutShort(tied)})`],
    };
  });
  return {
    tables: found.flatMap(({ tables }) => tables),
    names: branches.map((_, i) => `b${i}`),
    isShort: found.flatMap(({ isShort }) => isShort),
  };
};

/** The slot has the order of the list's first field alone: of the last key that a page needs all is read and sorted. */
const tiedWalk = (walk: Walk, driver: Driver): Found => {
  const { query, parameters, most, rows } = walk;
  const { sort, after } = query;
  const descending = sort.fields[0]?.descending ?? false;
  const direction = directionSql(descending);
  const [sign, extremeKey] = descending ? ['<=', '[]'] : ['>=', 'true'];
  const afterKey = after?.keys[0];
  const branches = toBranches(
    query,
    driver,
    parameters,
    (column) => afterKey && `${column} ${sign} ${jsonb(keyOfText(afterKey.text), parameters)}`,
  );
  const tests = [...walk.tests, walk.position()];
  const tables = branches.map(
    (
      branch,
      i,
    ) => `b${i} AS MATERIALIZED (${walkedSql(walk, branch, `ORDER BY ${branch.column} ${direction}`)}
      WHERE ${fitsSql([branch.isNew, ...tests])} ORDER BY slot_key ${direction} FETCH FIRST (${most}) ROWS WITH TIES)`,
  );
  const opposite = directionSql(!descending);
  const isShort = branches.map(
    ({ column, where }, i) => `(SELECT count(*) FROM (SELECT FROM records
      WHERE ${where} AND ${column} ${descending ? '>=' : '<='} CASE WHEN (SELECT count(*) FROM b${i}) < ${most} THEN '${extremeKey}'
        ELSE (SELECT slot_key FROM b${i} ORDER BY slot_key ${opposite} LIMIT 1) END
      ORDER BY ${column} ${direction} LIMIT ${rows} + 1) looked) > ${rows}`,
  );
  return {
    tables,
    names: branches.map((_, i) => `b${i}`),
    isShort: [`NOT ${isInTime}`, ...isShort],
  };
};
