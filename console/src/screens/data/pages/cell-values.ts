/** The beginning of what is too long for a cell: the rest is not kept. */
export class Shortened {
  readonly start: string;
  /** Characters of all of it. */
  readonly length: number;
  readonly kind: 'text' | 'json';

  constructor(text: string, kind: 'text' | 'json') {
    // A copy: a part of a string would keep the whole one in memory.
    this.start = [...text.slice(0, mostCharacters)].join('');
    this.length = text.length;
    this.kind = kind;
  }
}

const mostCharacters = 200;

/** What a cell keeps of a value. */
export const toCellValue = (value: unknown): unknown => {
  if (typeof value === 'string')
    return value.length > mostCharacters ? new Shortened(value, 'text') : value;
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value);
  return json.length > mostCharacters ? new Shortened(json, 'json') : value;
};

export interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Without a prototype: a field may be named `constructor`, and others may lack it. */
export const toRow = (record: Row): Row =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, toCellValue(value)])),
  ) as Row;

const typeName = (value: unknown) => {
  if (value instanceof Shortened) return value.kind === 'text' ? 'string' : 'object';
  return value === null ? 'null' : typeof value;
};

/** The types that each field has in these rows, fields that most rows have first. */
export const findFields = (rows: readonly Row[]): Map<string, string[]> => {
  const found = new Map<string, { rows: number; types: Set<string> }>();
  for (const row of rows)
    for (const [name, value] of Object.entries(row)) {
      const field = found.get(name) ?? { rows: 0, types: new Set() };
      field.rows += 1;
      field.types.add(typeName(value));
      found.set(name, field);
    }
  const sorted = [...found].sort(([, a], [, b]) => b.rows - a.rows);
  return new Map(sorted.map(([name, { types }]) => [name, [...types]]));
};
