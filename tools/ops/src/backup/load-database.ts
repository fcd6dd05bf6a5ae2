import { createReadStream } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { migrate } from '@backlot/database';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { inOrderOfReferences, quote, tableName } from './catalog.ts';
import { deleteFileRows } from './deleted-files.ts';
import type { DumpedSchema, DumpedTable, Manifest } from './manifest.ts';

export interface ServiceMigrations {
  schema: string;
  directory: string;
}

/** @throws Error naming migrations that this release does not have: the back-up is of a later one */
export const requireKnownMigrations = async (
  { schemas }: Manifest,
  migrations: readonly ServiceMigrations[],
  filesOf: (directory: string) => Promise<string[]>,
): Promise<void> => {
  const unknown: string[] = [];
  for (const { schema, migrations: names } of schemas) {
    const directory = migrations.find((other) => other.schema === schema)?.directory;
    const files = directory === undefined ? [] : await filesOf(directory);
    unknown.push(
      ...names.filter((name) => !files.includes(`${name}.sql`)).map((name) => `${schema}/${name}`),
    );
  }
  if (unknown.length > 0)
    throw new Error(
      `The back-up is of a release that this one is not, with migrations that it does not have: ${unknown.join(', ')}.`,
    );
};

/** The schemas as they were when the back-up was made, with nothing in them. */
const makeSchemas = async (
  url: string,
  schemas: readonly DumpedSchema[],
  migrations: readonly ServiceMigrations[],
): Promise<void> => {
  for (const { schema, migrations: names } of schemas) {
    const source = migrations.find((other) => other.schema === schema)?.directory ?? '';
    const directory = await mkdtemp(join(tmpdir(), 'backlot-restore-'));
    try {
      for (const name of names)
        await cp(join(source, `${name}.sql`), join(directory, `${name}.sql`));
      await migrate({ url, schema, directory });
    } finally {
      await rm(directory, { recursive: true });
    }
  }
};

interface LoadedTable extends DumpedTable {
  schema: string;
}

const loadTable = async (client: pg.ClientBase, folder: string, table: LoadedTable) => {
  const columns = table.columns.map(quote).join(', ');
  const target = client.query(copyFrom(`COPY ${tableName(table)} (${columns}) FROM STDIN`));
  await pipeline(createReadStream(join(folder, table.path)), createZstdDecompress(), target);
  if (target.rowCount !== table.rows)
    throw new Error(`${tableName(table)} has ${target.rowCount} rows of ${table.rows}.`);
};

const selectGuarded = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relforcerowsecurity AS is_forced,
         EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) AS has_triggers
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p')`;

/** Row-level security takes no COPY, and triggers are for changes. Within the transaction, so that they come back. */
const withoutGuards = async (
  client: pg.ClientBase,
  schemas: readonly string[],
  work: () => Promise<void>,
): Promise<void> => {
  const { rows } = await client.query<{ name: string; is_forced: boolean; has_triggers: boolean }>(
    selectGuarded,
    [schemas],
  );
  const [forced, triggered] = [
    rows.filter(({ is_forced }) => is_forced),
    rows.filter(({ has_triggers }) => has_triggers),
  ];
  const alter = async (tables: typeof rows, change: string) => {
    for (const { name } of tables) await client.query(`ALTER TABLE ${name} ${change}`);
  };
  await alter(forced, 'NO FORCE ROW LEVEL SECURITY');
  await alter(triggered, 'DISABLE TRIGGER USER');
  await work();
  // What refers to others is checked before the tables may be changed again.
  await client.query('SET CONSTRAINTS ALL IMMEDIATE');
  await alter(triggered, 'ENABLE TRIGGER USER');
  await alter(forced, 'FORCE ROW LEVEL SECURITY');
};

/** All rows in one transaction: a restore that dies leaves an empty installation. */
export const loadDatabase = async (
  client: pg.ClientBase,
  url: string,
  folder: string,
  manifest: Manifest,
  migrations: readonly ServiceMigrations[],
): Promise<void> => {
  const { schemas } = manifest;
  await makeSchemas(url, schemas, migrations);
  const tables = schemas.flatMap(({ schema, tables: own }) =>
    own.map((table): LoadedTable => ({ ...table, schema })),
  );
  const ordered = await inOrderOfReferences(client, tables);
  await client.query('BEGIN');
  await withoutGuards(
    client,
    schemas.map(({ schema }) => schema),
    async () => {
      // What migrations put there.
      for (const table of ordered.toReversed())
        await client.query(`DELETE FROM ${tableName(table)}`);
      for (const table of ordered) await loadTable(client, folder, table);
      await deleteFileRows(client, manifest.files.deleted);
    },
  );
  for (const { schema, sequences } of schemas)
    for (const { name, value, isCalled } of sequences)
      await client.query('SELECT setval($1::regclass, $2, $3)', [
        `${quote(schema)}.${quote(name)}`,
        value,
        isCalled,
      ]);
  await client.query('COMMIT');
  await client.query('ANALYZE');
};
