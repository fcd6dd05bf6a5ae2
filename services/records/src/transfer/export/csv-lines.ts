import { stringify } from 'csv-stringify/sync';
import type { JsonRecord } from '../../list/shown/shown-fields.ts';
import { defuse, restColumn } from '../cells.ts';

const options = {
  // So that a text of digits is told from a number.
  quoted_string: true,
  record_delimiter: '\r\n',
  cast: { boolean: String, number: (value: number) => JSON.stringify(value) },
} as const;

const toCell = (value: unknown): unknown => {
  if (typeof value === 'string') return defuse(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
};

export const csvHeader = (columns: readonly string[]): string =>
  stringify([columns.map(defuse)], options);

/** Rows of these records, under these columns. */
export const csvRows = (records: readonly JsonRecord[], columns: readonly string[]): string => {
  const shown = new Set(columns);
  const hasRest = shown.has(restColumn);
  const rest = (record: JsonRecord) => {
    const left = Object.entries(record).filter(([name]) => !shown.has(name) || name === restColumn);
    return left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left));
  };
  const toRow = (record: JsonRecord) =>
    columns.map((name) =>
      hasRest && name === restColumn
        ? rest(record)
        : toCell(Object.hasOwn(record, name) ? record[name] : undefined),
    );
  return stringify(records.map(toRow), options);
};
