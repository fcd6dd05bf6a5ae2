/**
 * Prints the types of a schema's tables: `describe-tables.ts <database url> <schema>`. A process of its own, since
 * kysely-codegen searches the cache of all CommonJS modules, and stops at those without a path.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { generate, PostgresDialect as PostgresGenerator } from 'kysely-codegen';
import pg from 'pg';

const [, , connectionString = '', schema = ''] = process.argv;
const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}`, max: 2 });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
const text = await generate({
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
await db.destroy();
process.stdout.write(text);
