import { join } from 'node:path';
import { createZstdCompress } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { quote, readSequences, readTables, type Table, tableName } from './catalog.ts';
import type { DumpedSchema, DumpedTable } from './manifest.ts';
import { writePart } from './parts.ts';

/**
 * Begins the transaction that all is read in: what was committed before is seen, nothing else. Nobody
 * empties a table meanwhile, and migrations fail; reads and writes go on.
 */
export const beginSnapshot = async (
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<Table[]> => {
  const tables = await readTables(client, schemas);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const names = tables.map(tableName).join(', ');
  if (names) await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
  // The snapshot is that of the first statement that reads.
  await client.query('SELECT FROM pg_class LIMIT 1');
  return tables;
};

const dumpTable = async (
  client: pg.ClientBase,
  folder: string,
  table: Table,
): Promise<DumpedTable> => {
  const columns = table.columns.map(quote).join(', ');
  const source = client.query(
    copyTo(`COPY (SELECT ${columns} FROM ${tableName(table)}) TO STDOUT`),
  );
  const path = `database/${table.schema}.${table.table}.copy.zst`;
  const part = await writePart(join(folder, path), source, createZstdCompress());
  return { table: table.table, columns: table.columns, rows: source.rowCount, path, part };
};

const readMigrations = async (client: pg.ClientBase, schema: string): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM ${quote(schema)}.migrations ORDER BY id`,
  );
  return rows.map(({ name }) => name);
};

/** Rows as text, so that another PostgreSQL may read them. Within the snapshot. */
export const dumpDatabase = async (
  client: pg.ClientBase,
  folder: string,
  tables: readonly Table[],
): Promise<DumpedSchema[]> => {
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  const sequences = await readSequences(client, schemas);
  const dumped: DumpedSchema[] = [];
  for (const schema of schemas) {
    const own: DumpedTable[] = [];
    for (const table of tables.filter((other) => other.schema === schema))
      own.push(await dumpTable(client, folder, table));
    dumped.push({
      schema,
      migrations: await readMigrations(client, schema),
      tables: own,
      sequences: sequences
        .filter((other) => other.schema === schema)
        .map(({ name, value, isCalled }) => ({ name, value, isCalled })),
    });
  }
  return dumped;
};
