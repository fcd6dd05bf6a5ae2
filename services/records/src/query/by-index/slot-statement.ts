import { epochSql } from '../../collections/stored/slots.ts';
import { type Parameters, type Statement, startParameters } from '../../sql.ts';
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
} from '../list-statement.ts';
import { conditionsSql, type Selection } from '../selection.ts';
import { afterSql, sortKeySql } from '../sort.ts';
import { type Branch, fitsSql, lookedAtSql, toBranches } from './branches.ts';
import type { CountDriver, Driver } from './drivers.ts';
import { markers } from './key-ranges.ts';
import { type PageSize, type StatementParts, walkStatement } from './walks.ts';

/**
 * A list by slots as one statement with the columns of `listStatement`, and `epoch`: where it is another
 * than the query's, the slot may be another field's by now.
 */
export const slotListStatement = (
  query: ListQuery,
  driver: Driver,
  limits: ReadLimits,
  stretch: Stretch,
): Statement => {
  const build = driver.kind === 'walk' ? walkStatement : collectStatement;
  const parameters = startParameters(query.collection);
  const limit = parameters.add(query.limit, 'int');
  const pageBytes = parameters.add(limits.pageBytes, 'int8');
  const offset = parameters.add(query.offset, 'int');
  const rows = parameters.add(stretch.rows, 'int');
  const ms = parameters.add(stretch.ms, 'int');
  const parts = build(query, driver, parameters, { limit, offset, rows });
  const { tables, page, keyCount, isUnfinished } = parts;
  const text = pageSql(page, keyCount, limit, pageBytes, { isUnfinished, isExceeded: 'false' });
  return {
    text: `WITH ${[deadlineSql(ms), ...tables].join(', ')} SELECT page.*, ${epochSql} AS epoch FROM (${text}) page`,
    values: parameters.values,
  };
};

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
  const branches = toBranches(query, driver, parameters);
  const keys = sort.fields.map((field) => sortKeySql(field, parameters));
  const position = after && afterSql(sort, keys, positionSql(after, query, keys, parameters));
  const fits = fitsSql([...conditionsSql(query, parameters), position]);
  const keyColumns = keys.map((key, i) => `, ${key} AS s${i}`).join('');
  const found = foundSql(branches, rows);
  return {
    tables: [`looked AS MATERIALIZED (SELECT ${isTooMuch(branches, rows)} AS is_too_much)`],
    page: `SELECT *${keyColumns} FROM (${found}) records WHERE ${fits}
      ORDER BY ${orderSql(sort)} LIMIT ${limit} + 1 OFFSET ${offset}`,
    keyCount: keys.length,
    isUnfinished: `((SELECT is_too_much FROM looked) OR NOT ${isInTime})`,
  };
};

const foundSql = (branches: readonly Branch[], rows: string): string =>
  branches
    .map(
      ({
        column,
        columns,
        where,
        isNew,
      }) => `SELECT ${recordColumns} FROM (SELECT ${recordColumns}${columns} FROM records
        WHERE ${where} AND NOT (SELECT is_too_much FROM looked) ORDER BY ${column}, id LIMIT ${rows}) branch${isNew ? ` WHERE ${isNew}` : ''}`,
    )
    .join(' UNION ALL ');

/**
 * Counts by slots: `count`, `unfinished` and `epoch`. Exact ranges are counted in the index alone, up to
 * `mostKeys`; of the others no more than the stretch is looked at.
 */
export const slotCountStatement = (
  selection: Selection,
  driver: CountDriver,
  stretch: Stretch,
  mostKeys: number,
): Statement => {
  const parameters = startParameters(selection.collection);
  const branches = toBranches(selection, driver, parameters);
  const exact = branches.filter(({ range }) => driver.isExact && range !== markers);
  const tested = branches.filter((branch) => !exact.includes(branch));
  const most = parameters.add(mostKeys, 'int');
  const keys = exact.map(
    ({ where }) =>
      `(SELECT count(*) FROM (SELECT FROM records WHERE ${where} LIMIT ${most}) counted)`,
  );
  const looked = lookedSql(selection, tested, stretch, parameters);
  return {
    text: `WITH ${looked.tables}, counted AS MATERIALIZED (
        SELECT ${[...keys, '0'].join(' + ')} AS keys, ${looked.count} AS passing)
      SELECT keys + passing AS count, ${epochSql} AS epoch,
        (keys >= ${most} OR ${looked.isUnfinished}) AS unfinished
      FROM counted`,
    values: parameters.values,
  };
};

const lookedSql = (
  selection: Selection,
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
    count: `(SELECT count(*) FROM (${foundSql(branches, rows)}) records WHERE ${fits})`,
    isUnfinished: `((SELECT is_too_much FROM looked) OR NOT ${isInTime})`,
  };
};
