import type { Parameters } from '../../sql.ts';

export interface Column<Row> {
  name: string;
  type: string;
  value(row: Row, index: number): unknown;
}

/**
 * Rows as parts of a statement whose third parameter is their id or ids: parameters of their own for one, columns of a
 * table for several. One is not a table too: docs/decisions/0034.
 */
export const addRows = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  table: string,
  parameters: Parameters,
  isTable = rows.length !== 1,
) => {
  const [only] = rows;
  const found: Record<string, string | undefined> = {};
  let arrays = '$3::uuid[]';
  let names = 'row_id';
  for (const { name, type, value } of columns) {
    if (only !== undefined && !isTable) {
      found[name] = parameters.add(value(only, 0), type);
    } else {
      arrays += `, ${parameters.add(rows.map(value), `${type}[]`)}`;
      names += `, ${name}`;
      found[name] = `${table}.${name}`;
    }
  }
  return { found, from: isTable ? `unnest(${arrays}) ${table}(${names})` : undefined };
};
