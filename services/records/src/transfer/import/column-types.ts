import { ApiError, recordRoutes } from '@backlot/contract';
import type { ValueSchema } from '../../schema/compiled-schema.ts';
import { ownColumns, restColumn, undefuse } from '../cells.ts';

type ColumnType = recordRoutes.ColumnType;

/** Text that stood between quotation marks is an object. */
export type Cell = string | { readonly text: string };

export const cellText = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

export type Types = Readonly<Record<string, ColumnType>>;

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Whether it means what it says: not a postal code with a zero before it, nor more digits than a number keeps. */
const isNumber = (text: string): boolean =>
  number.test(text) &&
  Number.isFinite(Number(text)) &&
  text.replace(/\D/g, '').replace(/^0+|0+$/g, '').length <= 15;

const isJson = (text: string): boolean => {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const tests: Record<Exclude<ColumnType, 'text'>, (text: string) => boolean> = {
  number: isNumber,
  boolean: (text) => text === 'true' || text === 'false',
  json: isJson,
};
const told = ['number', 'boolean', 'json'] as const;

/** What the schema of the collection says of the field; undefined where it leaves it open. */
const typeInSchema = (schema: ValueSchema | undefined): ColumnType | undefined => {
  const types = [...(schema?.types ?? [])].filter((type) => type !== 'null');
  if (types.length === 0) return undefined;
  if (types.every((type) => type === 'number' || type === 'integer')) return 'number';
  if (types.every((type) => type === 'object' || type === 'array')) return 'json';
  const [type] = types;
  if (types.length > 1) return undefined;
  return type === 'boolean' ? 'boolean' : type === 'string' ? 'text' : undefined;
};

const isOwn = (column: string) => (ownColumns as readonly string[]).includes(column);

/**
 * The types of columns by their first cells. Where some cells have quotation marks and some have none, those with them
 * are texts, whatever they look like.
 */
export const guessTypes = (
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  fields: ReadonlyMap<string, ValueSchema> | undefined,
): Types => {
  const cells = rows.flat().filter((cell) => cellText(cell) !== '');
  const tellsTexts = cells.some((cell) => typeof cell === 'string');
  const guess = (at: number): ColumnType => {
    const values = rows.flatMap((row) => row[at] ?? []).filter((cell) => cellText(cell) !== '');
    if (values.length === 0) return 'text';
    const fits = (type: (typeof told)[number]) =>
      values.every(
        (cell) =>
          (typeof cell === 'string' || !tellsTexts || type === 'json') &&
          tests[type](cellText(cell)),
      );
    return told.find(fits) ?? 'text';
  };
  const types = columns.map((column, at) => {
    const type = isOwn(column)
      ? 'text'
      : column === restColumn
        ? 'json'
        : (typeInSchema(fields?.get(column)) ?? guess(at));
    return [column, type] as const;
  });
  return Object.fromEntries(types);
};

/** Reads the query parameter `types`. @throws ApiError invalid_query */
export const parseTypes = (text: string | undefined): Types => {
  if (text === undefined) return {};
  const refuse = (cause?: unknown) =>
    new ApiError(
      'invalid_query',
      `"types": must be JSON of columns and their types (${recordRoutes.columnTypes.join(', ')}), as in {"zip":"text"}`,
      { cause },
    );
  let types: unknown;
  try {
    types = JSON.parse(text);
  } catch (cause) {
    throw refuse(cause);
  }
  const isType = (type: unknown) => recordRoutes.columnTypes.some((known) => known === type);
  if (typeof types !== 'object' || types === null || Array.isArray(types)) throw refuse();
  if (!Object.values(types).every(isType)) throw refuse();
  return types as Types;
};

/** What a cell says; undefined where it is empty. @throws ApiError invalid_data */
export const readCell = (cell: Cell, type: ColumnType, column: string): unknown => {
  const text = cellText(cell);
  if (type === 'text') return text === '' && typeof cell === 'string' ? undefined : undefuse(text);
  if (text === '') return undefined;
  if (tests[type](text)) return JSON.parse(text);
  if (type === 'json' && isAnyJson(text)) return JSON.parse(text);
  const shown = JSON.stringify(text.slice(0, 60).toWellFormed());
  const name = JSON.stringify(column.slice(0, 60).toWellFormed());
  throw new ApiError('invalid_data', `The column ${name} has ${shown}, which is no ${type}.`, {
    hint: 'All of a column is text by ?types={"<column>":"text"}.',
  });
};

/** In a column that says so a text, number or null is JSON too. */
const isAnyJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
