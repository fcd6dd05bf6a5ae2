import { slotColumn } from '../../collections/stored/slots.ts';
import { and, type Parameters } from '../../sql.ts';
import { isInTime, type ListQuery, recordColumns } from '../list-statement.ts';
import { boundsSql, type Selection } from '../selection.ts';
import type { Driver, Way } from './drivers.ts';
import { type KeyRange, markers, maxKeyLength } from './key-ranges.ts';

export const jsonb = (text: string, parameters: Parameters) => parameters.add(text, 'jsonb');

/**
 * A range of the slot's column, named in this condition alone. A single key is a range too: the planner,
 * which knows the values of all collections together, would otherwise take the primary key for as good.
 */
const rangeSql = (column: string, range: KeyRange, parameters: Parameters): string => {
  switch (range.kind) {
    case 'all':
      return `${column} IS NOT NULL`;
    case 'scalars':
      return `${column} > '[]'`;
    case 'points': {
      const keys = range.keys.map((key) => JSON.stringify(key));
      if (keys.length !== 1) return `${column} = ANY (${parameters.add(keys, 'jsonb[]')})`;
      const key = jsonb(keys[0] ?? 'null', parameters);
      return `${column} >= ${key} AND ${column} <= ${key}`;
    }
    case 'between':
      return and(
        range.bounds.map(({ sign, key }) => `${column} ${sign} ${jsonb(key, parameters)}`),
      );
  }
};

export const pointKey = (range: KeyRange): string | undefined =>
  range.kind === 'points' && range.keys.length === 1 ? JSON.stringify(range.keys[0]) : undefined;

/** Whether other texts may share the key of a row. */
export const isCutKeySql = `jsonb_typeof(slot_key) = 'string' AND length(slot_key #>> '{}') >= ${maxKeyLength}`;

/** One range of keys in one slot, with what comes before it. */
export interface Branch {
  column: string;
  range: KeyRange;
  where: string;
  /** The columns of `isNew`, each with a comma before it. */
  columns: string;
  /** Holds for records that no way before this one leads to. */
  isNew: string | undefined;
}

/** Whether more was to be looked through than the stretch allows, in one of the branches. */
export const lookedAtSql = ({ where }: Branch, rows: string): string =>
  `(SELECT count(*) FROM (SELECT FROM records WHERE ${where} LIMIT ${rows} + 1) looked)`;

/** What comes before one way: its columns, each with a comma before it, and whether no way before leads to a record. */
const newIn = (ways: readonly Way[], i: number, parameters: Parameters) => {
  const before = ways.slice(0, i);
  const columns = new Set(before.map((way) => slotColumn(way.slot)));
  const isNew = before.map((way) => `NOT (${waySql(way, parameters)})`);
  return { columns: [...columns], isNew: isNew.length > 0 ? and(isNew) : undefined };
};

const withCommas = (columns: readonly string[]) => columns.map((name) => `, ${name}`).join('');

export const toBranches = (
  selection: Selection,
  { ways }: Driver,
  parameters: Parameters,
  startSql: (column: string, range: KeyRange) => string | undefined = () => undefined,
): Branch[] =>
  ways.flatMap(({ slot, ranges }, i) => {
    const column = slotColumn(slot);
    const { columns, isNew } = newIn(ways, i, parameters);
    return ranges.map((range) => ({
      column,
      range,
      where: and([
        boundsSql(selection, parameters),
        rangeSql(column, range, parameters),
        startSql(column, range),
      ]),
      columns: withCommas(columns),
      isNew,
    }));
  });

interface WholeWay extends Pick<Branch, 'where' | 'columns' | 'isNew'> {
  /** Holds for a record whose key is that of arrays and objects. */
  hasMarker: string;
}

/**
 * Each way as a whole, for what needs no order: PostgreSQL reads the ranges' pages in the order in which they lie, many
 * at once, where they are alternatives.
 */
export const toWays = (
  selection: Selection,
  { ways }: Driver,
  parameters: Parameters,
): WholeWay[] =>
  ways.map((way, i) => {
    const column = slotColumn(way.slot);
    const { columns, isNew } = newIn(ways, i, parameters);
    const ranges = [...new Set([...way.ranges, markers])];
    return {
      where: and([
        boundsSql(selection, parameters),
        `(${waySql({ slot: way.slot, ranges }, parameters)})`,
      ]),
      columns: withCommas([...new Set([...columns, column])]),
      isNew,
      hasMarker: `${column} = '[]'`,
    };
  });

const waySql = ({ slot, ranges }: Way, parameters: Parameters): string =>
  ranges.map((range) => `(${rangeSql(slotColumn(slot), range, parameters)})`).join(' OR ');

/** Not even looked at once the time is over, which is told at the end. */
export const fitsSql = (tests: readonly (string | undefined)[]): string =>
  `CASE WHEN ${isInTime} THEN ${and(['true', ...tests])} ELSE false END`;

export interface Walk {
  query: ListQuery;
  parameters: Parameters;
  /** Sort keys, as `s0` and so on, each with a comma before it. */
  keyColumns: string;
  tests: readonly string[];
  /** Holds behind the cursor; undefined where there is none. */
  position(): string | undefined;
  most: string;
  rows: string;
}

export interface Found {
  tables: string[];
  /** Of the tables in which the page's records are. */
  names: string[];
  /** Each holds where a branch was not followed to its end. */
  isShort: string[];
}

/** The branch's records in this order, before they are tested. */
export const walkedSql = (
  { keyColumns, rows }: Walk,
  { column, columns, where }: Branch,
  order: string,
): string =>
  `SELECT ${recordColumns}, slot_key${keyColumns} FROM (SELECT ${recordColumns}, ${column} AS slot_key${columns} FROM records
        WHERE ${where} ${order} LIMIT ${rows}) records`;
