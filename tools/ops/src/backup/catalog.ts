import type pg from 'pg';

export interface Table {
  schema: string;
  table: string;
  /** Without those that PostgreSQL computes. */
  columns: string[];
}

export const tableName = ({ schema, table }: Pick<Table, 'schema' | 'table'>): string =>
  `${quote(schema)}.${quote(table)}`;

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const migrationsTable = 'migrations';

const selectTables = `
  SELECT n.nspname AS schema, c.relname AS table,
         array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '${migrationsTable}'
   GROUP BY 1, 2 ORDER BY 1, 2`;

/** Of the services' schemas; a partitioned table is one. */
export const readTables = async (
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Table[]> => (await client.query<Table>(selectTables, [schemas])).rows;

export interface Sequence {
  schema: string;
  name: string;
  value: string;
  isCalled: boolean;
}

/** Where numbers go on; they may have gone further than the rows of a snapshot. */
export const readSequences = async (
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Sequence[]> => {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'S' AND n.nspname = ANY ($1) AND c.relname <> '${migrationsTable}_id_seq' ORDER BY 1, 2`,
    [schemas],
  );
  const sequences: Sequence[] = [];
  for (const { schema, name } of rows) {
    const { rows: states } = await client.query<{ value: string; is_called: boolean }>(
      `SELECT last_value::text AS value, is_called FROM ${quote(schema)}.${quote(name)}`,
    );
    for (const { value, is_called: isCalled } of states)
      sequences.push({ schema, name, value, isCalled });
  }
  return sequences;
};

interface Reference {
  from: string;
  to: string;
}

const selectReferences = `
  SELECT format('%I.%I', fn.nspname, f.relname) AS from, format('%I.%I', tn.nspname, t.relname) AS to
    FROM pg_constraint k
    JOIN pg_class f ON f.oid = k.conrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
    JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
   WHERE k.contype = 'f' AND fn.nspname = ANY ($1) AND f.oid <> t.oid AND NOT f.relispartition`;

/** Those that others refer to come first. @throws Error where they refer to each other in a circle */
export const inOrderOfReferences = async <T extends { schema: string; table: string }>(
  client: pg.ClientBase,
  tables: readonly T[],
): Promise<T[]> => {
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  const { rows } = await client.query<Reference>(selectReferences, [schemas]);
  const plain = ({ schema, table }: T) => `${schema}.${table}`;
  const ordered: T[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const names = new Set(left.map(plain));
    const free = left.filter(
      (table) => !rows.some(({ from, to }) => from === plain(table) && names.has(to)),
    );
    if (free.length === 0) throw new Error(`These tables refer to each other: ${[...names]}`);
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
};
