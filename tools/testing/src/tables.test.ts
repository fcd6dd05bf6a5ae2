import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { services } from '@backlot/contract';
import { migrate } from '@backlot/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './servers/test-database.ts';

const serviceFolder = (service: string) =>
  new URL(`../../../services/${service}/`, import.meta.url);
const tablesFile = (service: string) =>
  fileURLToPath(new URL('src/tables.ts', serviceFolder(service)));
const described = Object.keys(services).filter((service) => existsSync(tablesFile(service)));
/** `BACKLOT_WRITE_TABLES=1 pnpm test tables` writes the files instead of comparing them. */
const isWriting = process.env.BACKLOT_WRITE_TABLES === '1';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const describeTables = async (schema: string) => {
  // Not at the top: it is CommonJS, and jest wants kysely there before it.
  const { generate, PostgresDialect: PostgresGenerator } = await import('kysely-codegen');
  const directory = fileURLToPath(new URL('migrations', serviceFolder(schema)));
  await migrate({ url: database.url, schema, directory });
  const pool = new pg.Pool({
    connectionString: database.url,
    options: `-c search_path=${schema}`,
    max: 2,
  });
  // Its connections may still be ending while the database is dropped.
  pool.on('error', () => {});
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  try {
    return await generate({
      db,
      dialect: new PostgresGenerator(),
      defaultSchemas: [schema],
      includePattern: `${schema}.*`,
      excludePattern: `${schema}.migrations`,
      // As createDatabase reads them.
      typeMapping: { int8: 'number', timestamptz: 'Date', date: 'Date' },
      typeOnlyImports: true,
      singularize: true,
    });
  } finally {
    await db.destroy();
  }
};

it.each(described)('tables.ts of %s is what its migrations make', async (service) => {
  const text = await describeTables(service);
  if (isWriting) await writeFile(tablesFile(service), text);
  expect(await readFile(tablesFile(service), 'utf8')).toBe(text);
});
