import { ApiError } from '@backlot/contract';
import { findRoundedNumber } from '@backlot/http';
import { type Options, parse } from 'csv-parse';
import type { JsonRecord } from '../../list/shown/shown-fields.ts';
import type { ValueSchema } from '../../schema/compiled-schema.ts';
import { restColumn, undefuse } from '../cells.ts';
import { type Cell, cellText, guessTypes, readCell, type Types } from './column-types.ts';
import { maxLineBytes, type ReadLine, Unreadable } from './read-line.ts';

/** Rows from which types are guessed. */
const sampleRows = 500;
const sampleBytes = 512 * 1024;
const maxColumns = 1024;

interface Row {
  cells: readonly Cell[];
  /** Of the line in which it begins, in this body, and of the one behind it. */
  line: number;
  next: number;
  bytes: number;
}

/** The one that the header has most of. */
const findDelimiter = (text: string): string => {
  const header = (/^.*/.exec(text.slice(0, 64 * 1024))?.[0] ?? '').replace(/"[^"]*"/g, '');
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best));
};

/** @throws Unreadable where it is no UTF-8 */
async function* decode(chunks: AsyncIterable<Buffer>, line: () => number): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const refuse = (cause: unknown) =>
    new Unreadable(line(), 'The CSV is not valid UTF-8 from about this line on.', {
      cause,
      hint: 'Save it as "CSV UTF-8".',
    });
  const read = (chunk?: Buffer) => {
    try {
      return chunk ? utf8.decode(chunk, { stream: true }) : utf8.decode();
    } catch (cause) {
      throw refuse(cause);
    }
  };
  for await (const chunk of chunks) yield read(chunk);
  yield read();
}

const breaks = (cells: readonly Cell[], pattern: RegExp): number =>
  cells.reduce<number>((sum, cell) => sum + (cellText(cell).match(pattern)?.length ?? 0), 0);

/** Rows as they come. What came before a row that can't be read is answered before the error. */
async function* readRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let rows: Row[] = [];
  let next = 1;
  /** The parser counts a CR LF between quotation marks as two lines. */
  let countedTwice = 0;
  const options: Options = {
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: maxLineBytes,
    cast: (text, { quoting }) => (quoting ? { text } : text),
    on_record(cells: readonly Cell[], { lines }) {
      countedTwice += breaks(cells, /\r\n/g);
      const last = lines - countedTwice;
      const bytes = cells.reduce((sum, cell) => sum + cellText(cell).length + 1, 0);
      rows.push({ cells, line: last - breaks(cells, /\r\n|\n|\r/g), next: last + 1, bytes });
      return null;
    },
  };
  let parser: ReturnType<typeof parse> | undefined;
  const open = (text: string) => {
    const opened = parse({ ...options, delimiter: findDelimiter(text) });
    // What it says stands in the callbacks too.
    opened.on('error', () => {});
    return opened.resume();
  };
  const push = (text?: string) =>
    new Promise<unknown>((resolve) => {
      parser ??= open(text ?? '');
      const settle = (error?: unknown) => resolve(error ?? undefined);
      if (text === undefined) parser.end(settle);
      else parser.write(text, settle);
    });
  const answer = function* (error: unknown): Generator<Row> {
    const taken = rows;
    rows = [];
    for (const row of taken) {
      next = row.next;
      yield row;
    }
    if (error)
      throw new Unreadable(next, `The CSV can't be read: ${Object(error).message}`.slice(0, 300), {
        cause: error,
        hint: 'Cells with commas, quotation marks or line breaks stand between quotation marks, and these are doubled.',
      });
  };
  for await (const text of decode(chunks, () => next))
    if (text !== '') yield* answer(await push(text));
  yield* answer(await push());
}

const readHeader = ({ cells }: Row): string[] => {
  const columns = cells.map((cell) => undefuse(cellText(cell).trim()));
  const refuse = (message: string) =>
    new ApiError('invalid_body', message, { hint: 'The first line of CSV names its columns.' });
  if (columns.length > maxColumns) throw refuse(`There are more than ${maxColumns} columns.`);
  const wrong = columns.find((name, at) => name === '' || columns.indexOf(name) !== at);
  if (wrong === '') throw refuse('A column has no name.');
  if (wrong !== undefined)
    throw refuse(`The column ${JSON.stringify(wrong.slice(0, 60))} is there twice.`);
  return columns;
};

const toRecord = (cells: readonly Cell[], columns: readonly string[], types: Types): JsonRecord => {
  if (cells.length > columns.length)
    throw new ApiError('invalid_data', `The row has more than ${columns.length} cells.`);
  const record: JsonRecord = Object.create(null);
  for (const [at, cell] of cells.entries()) {
    const column = columns[at] ?? '';
    const value = readCell(cell, types[column] ?? 'text', column);
    if (value === undefined) continue;
    if (types[column] === 'json' && findRoundedNumber(cellText(cell)) !== undefined)
      throw new ApiError('invalid_data', `The column ${column} has a number that can't be kept.`);
    if (column !== restColumn) record[column] = value;
    else if (typeof value === 'object' && !Array.isArray(value)) Object.assign(record, value);
    else throw new ApiError('invalid_data', `The column ${restColumn} has no object.`);
  }
  return record;
};

export interface CsvOptions {
  /** The number of the row behind the header; undefined where the header is line 1. */
  firstLine: number | undefined;
  types: Types;
  fields: ReadonlyMap<string, ValueSchema> | undefined;
  /** Told the types of all columns, before the first row. */
  onTypes(types: Types): void;
}

/** Rows of CSV as they come, once the types of its columns are known. @throws Unreadable, ApiError invalid_body */
export async function* csvLines(
  chunks: AsyncIterable<Buffer>,
  { firstLine, types: given, fields, onTypes }: CsvOptions,
): AsyncGenerator<ReadLine> {
  const rows = readRows(chunks);
  const { value: header } = await rows.next();
  if (!header) return;
  const columns = readHeader(header);
  const unknown = Object.keys(given).find((column) => !columns.includes(column));
  if (unknown !== undefined)
    throw new ApiError('invalid_query', `"types": there is no column ${JSON.stringify(unknown)}.`);
  const offset = firstLine === undefined ? 0 : firstLine - header.next;
  const sample: Row[] = [];
  let failure: unknown;
  try {
    let bytes = 0;
    while (sample.length < sampleRows && bytes < sampleBytes) {
      const { value: row } = await rows.next();
      if (!row) break;
      sample.push(row);
      bytes += row.bytes;
    }
  } catch (error) {
    failure = error;
  }
  const cells = sample.map((row) => row.cells);
  const types: Types = { ...guessTypes(columns, cells, fields), ...given };
  onTypes(types);
  const toLine = ({ cells, line, next, bytes }: Row): ReadLine => ({
    line: line + offset,
    next: next + offset,
    bytes,
    read: () => toRecord(cells, columns, types),
  });
  for (const row of sample) yield toLine(row);
  if (failure) throw moved(failure, offset);
  try {
    for await (const row of rows) yield toLine(row);
  } catch (error) {
    throw moved(error, offset);
  }
}

/** The same, with the number that the line has in the whole. */
const moved = (error: unknown, offset: number): unknown =>
  error instanceof Unreadable && offset !== 0
    ? new Unreadable(error.line + offset, error.message, {
        cause: error.cause,
        ...(error.hint && { hint: error.hint }),
      })
    : error;
