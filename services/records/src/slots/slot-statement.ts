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
  type Stretch,
} from '../list/list-statement.ts';
import { boundsSql, conditionsSql, type Selection } from '../list/selection.ts';
import { afterSql, directionSql, sortKeySql } from '../list/sort.ts';
import { and, type Parameters, startParameters } from '../sql.ts';
import { type CountDriver, type Driver, type KeyRange, maxKeyLength } from './drivers.ts';
import { epochSql, slotColumn } from './slots.ts';

const jsonb = (text: string, parameters: Parameters) => parameters.add(text, 'jsonb');

/**
 * A range of the slot's column, named in this condition alone. A single key is a range too: the planner,
 * which knows the values of all collections together, would otherwise take the primary key for as good.
 */
const rangeSql = (column: string, range: KeyRange, parameters: Parameters): string => {
  switch (range.kind) {
    case 'all':
      return `${column} IS NOT NULL`;
    case 'points': {
      const [first, ...others] = range.keys.map((key) => JSON.stringify(key));
      if (others.length > 0) {
        return `${column} = ANY (${parameters.add([first, ...others], 'jsonb[]')})`;
      }
      const key = jsonb(first ?? 'null', parameters);
      return `${column} >= ${key} AND ${column} <= ${key}`;
    }
    case 'between':
      return and(
        range.bounds.map(({ sign, key }) => `${column} ${sign} ${jsonb(key, parameters)}`),
      );
  }
};

/** A single key; undefined for a range of several. */
const pointKey = (range: KeyRange): string | undefined =>
  range.kind === 'points' && range.keys.length === 1 ? JSON.stringify(range.keys[0]) : undefined;

interface Branch {
  where: string;
  /** By the key in this column, then by id. */
  orderBy(column: string): string;
}

/** Whether more was to be looked through than the stretch allows, in one of the branches. */
const lookedAtSql = ({ where }: Branch, rows: string): string =>
  `(SELECT count(*) FROM (SELECT FROM records WHERE ${where} LIMIT ${rows} + 1) looked)`;

const toBranches = (
  selection: Selection,
  { slot, ranges }: Driver,
  descending: boolean,
  parameters: Parameters,
  startSql: (range: KeyRange) => string | undefined = () => undefined,
): Branch[] => {
  const column = slotColumn(slot);
  const direction = directionSql(descending);
  return ranges.map((range) => ({
    where: and([
      boundsSql(selection, parameters),
      rangeSql(column, range, parameters),
      startSql(range),
    ]),
    orderBy: (key) => `ORDER BY ${key} ${direction}, id ${direction}`,
  }));
};

/**
 * A list by a slot as one statement with the columns of `listStatement`, and `epoch`: where it is another
 * than the query's, the slot may be another field's by now. Undefined where the position of the cursor is
 * not one in the slot's order.
 */
export const slotListStatement = (
  query: ListQuery,
  driver: Driver,
  limits: ReadLimits,
  stretch: Stretch,
): ListStatement | undefined => {
  const build = driver.kind === 'walk' ? walkStatement : collectStatement;
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const rows = parameters.add(stretch.rows, 'int');
  const ms = parameters.add(stretch.ms, 'int');
  const parts = build(query, driver, parameters, { limit, offset, rows });
  if (!parts) return undefined;
  const { tables, page, keyCount, isUnfinished } = parts;
  const text = pageSql(page, keyCount, limit, pageBytes, { isUnfinished, isExceeded: 'false' });
  return {
    text: `WITH ${[deadlineSql(ms), ...tables].join(', ')} SELECT page.*, ${epochSql} AS epoch FROM (${text}) page`,
    values: parameters.values,
  };
};

interface StatementParts {
  tables: string[];
  page: string;
  keyCount: number;
  isUnfinished: string;
}

interface PageSize {
  limit: string;
  offset: string;
  rows: string;
}

const isCutKey = (text: string): boolean => {
  const key: unknown = JSON.parse(text);
  return typeof key === 'string' && key.length >= maxKeyLength;
};

/** Each branch is read in the list's order until it has enough for the page. */
const walkStatement = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  { limit, offset, rows }: PageSize,
): StatementParts | undefined => {
  const { sort, after } = query;
  const [field] = sort.fields;
  const descending = sort.idDescending;
  const column = slotColumn(driver.slot);
  const afterKey = field && after?.keys[0];
  if (afterKey && (afterKey.isCut || isCutKey(afterKey.text))) return undefined;
  const afterId = after && parameters.add(after.id, 'uuid');
  const sign = descending ? '<' : '>';
  const startSql = (range: KeyRange) => {
    const key = afterKey?.text ?? pointKey(range);
    return afterId && key && `(${column}, id) ${sign} (${jsonb(key, parameters)}, ${afterId})`;
  };
  const branches = toBranches(query, driver, descending, parameters, startSql);
  const fits = fitsSql(conditionsSql(query, parameters));
  const key = field ? `, ${sortKeySql(field, parameters)} AS s0` : '';
  const most = `${limit} + ${offset} + 1`;
  const columns = `${recordColumns}, ${column} AS slot_key`;
  const tables = branches.map(
    ({ where, orderBy }, i) => `b${i} AS MATERIALIZED (
      SELECT *${key} FROM (SELECT ${columns} FROM records WHERE ${where} ${orderBy(column)} LIMIT ${rows}) records
      WHERE ${fits} ${orderBy('slot_key')} LIMIT ${most})`,
  );
  const found = branches.map((_, i) => `SELECT * FROM b${i}`).join(' UNION ALL ');
  const isShort = branches.map(
    (branch, i) => `((SELECT count(*) FROM b${i}) < ${most}
      AND (${lookedAtSql(branch, rows)} > ${rows} OR NOT ${isInTime}))`,
  );
  // Long texts share a key: their order is not the slot's.
  const hasCutKeys = `coalesce(bool_or(jsonb_typeof(slot_key) = 'string' AND length(slot_key #>> '{}') >= ${maxKeyLength}), false)`;
  const direction = directionSql(descending);
  const order = field ? `slot_key ${direction}, id ${direction}` : `id ${direction}`;
  return {
    tables,
    page: `SELECT * FROM (${found}) found ORDER BY ${order} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: field ? 1 : 0,
    isUnfinished: `(${[...isShort, ...(field ? [hasCutKeys] : [])].join(' OR ')})`,
  };
};

/** Not even looked at once the time is over, which is told at the end. */
const fitsSql = (tests: readonly (string | undefined)[]): string =>
  `CASE WHEN ${isInTime} THEN ${and(['true', ...tests])} ELSE false END`;

const isTooMuch = (branches: readonly Branch[], rows: string) =>
  `${branches.map((branch) => lookedAtSql(branch, rows)).join(' + ')} > ${rows}`;

/** All of the branches is read, where that is not too much, and sorted. */
const collectStatement = (
  query: ListQuery,
  driver: Driver,
  parameters: Parameters,
  { limit, offset, rows }: PageSize,
): StatementParts => {
  const { sort, after } = query;
  const branches = toBranches(query, driver, sort.idDescending, parameters);
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const position = after && afterSql(sort, keys, positionSql(after, query, keys, parameters));
  const fits = fitsSql([...conditionsSql(query, parameters), position]);
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const found = foundSql(branches, driver, rows);
  return {
    tables: [`looked AS MATERIALIZED (SELECT ${isTooMuch(branches, rows)} AS is_too_much)`],
    page: `SELECT *${keyColumns} FROM (${found}) records WHERE ${fits}
      ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: keys.length,
    isUnfinished: `((SELECT is_too_much FROM looked) OR NOT ${isInTime})`,
  };
};

const foundSql = (branches: readonly Branch[], { slot }: Driver, rows: string): string =>
  branches
    .map(
      ({ where, orderBy }) => `SELECT * FROM (SELECT ${recordColumns} FROM records
        WHERE ${where} AND NOT (SELECT is_too_much FROM looked) ${orderBy(slotColumn(slot))} LIMIT ${rows}) branch`,
    )
    .join(' UNION ALL ');

/**
 * Counts by a slot: `count`, `unfinished` and `epoch`. Exact ranges are counted in the index alone, up to
 * `mostKeys`; of the others no more than the stretch is looked at.
 */
export const slotCountStatement = (
  selection: Selection,
  driver: CountDriver,
  stretch: Stretch,
  mostKeys: number,
): ListStatement => {
  const parameters = startParameters(selection.collection);
  const branches = toBranches(selection, driver, true, parameters);
  const exact = branches.filter((_, i) => driver.exact[i]);
  const tested = branches.filter((_, i) => !driver.exact[i]);
  const most = parameters.add(mostKeys, 'int');
  const keys = exact.map(
    ({ where }) =>
      `(SELECT count(*) FROM (SELECT FROM records WHERE ${where} LIMIT ${most}) counted)`,
  );
  const looked = lookedSql(selection, driver, tested, stretch, parameters);
  return {
    text: `WITH ${looked.tables}, counted AS MATERIALIZED (
        SELECT ${[...keys, '0'].join(' + ')} AS keys, ${looked.count} AS passing)
      SELECT keys + passing AS count, ${epochSql} AS epoch,
        (keys >= ${most} OR ${looked.isUnfinished}) AS unfinished
      FROM counted`,
    values: parameters.values,
  };
};

/** How many of the branches' records pass the selection's tests. */
const lookedSql = (
  selection: Selection,
  driver: Driver,
  branches: readonly Branch[],
  stretch: Stretch,
  parameters: Parameters,
): { tables: string; count: string; isUnfinished: string } => {
  const deadline = deadlineSql(parameters.add(stretch.ms, 'int'));
  if (branches.length === 0) return { tables: deadline, count: '0', isUnfinished: 'false' };
  const rows = parameters.add(stretch.rows, 'int');
  const fits = fitsSql(conditionsSql(selection, parameters));
  return {
    tables: `${deadline}, looked AS MATERIALIZED (SELECT ${isTooMuch(branches, rows)} AS is_too_much)`,
    count: `(SELECT count(*) FROM (${foundSql(branches, driver, rows)}) records WHERE ${fits})`,
    isUnfinished: `((SELECT is_too_much FROM looked) OR NOT ${isInTime})`,
  };
};
