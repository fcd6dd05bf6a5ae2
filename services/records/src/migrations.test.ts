import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type Database, migrate, pendingMigrations } from '@backlot/database';
import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { recordsService } from './service.ts';

const { name: schema, distributed, tablesIn } = recordsService;
const all = fileURLToPath(recordsService.migrations);

let testDatabase: TestDatabase;
let database: Database;
let earlier: string;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, schema, poolSize: 1 });
  earlier = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await database.close();
  await rm(earlier, { recursive: true });
  await testDatabase.drop();
});

const migrateFrom = (directory: string) =>
  migrate({ url: testDatabase.url, schema, distributed, tablesIn, directory });
const migrateTo = async (last: string) => {
  for (const file of await readdir(all))
    if (file.slice(0, 4) <= last) await cp(join(all, file), join(earlier, file));
  await migrateFrom(earlier);
};
const pending = () => pendingMigrations({ url: testDatabase.url, schema, directory: all });

it('new ones can be applied where the tables of those before are spread over a cluster', async () => {
  await migrateTo('0011');
  expect(await pending()).not.toEqual([]);
  await migrateFrom(all);
  expect(await pending()).toEqual([]);
});

it('new ones rewrite no table: whoever uses it would wait', async () => {
  const filesOfTables = async () => {
    const rows = await database.query<{ name: string; file: number }>(
      `SELECT relname AS name, pg_relation_filenode(oid) AS file FROM pg_class
       WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
      [schema],
    );
    return new Map(rows.map(({ name, file }) => [name, file]));
  };
  await migrateTo('0012');
  const before = await filesOfTables();
  await migrateFrom(all);
  const after = await filesOfTables();
  expect([...before.keys()].filter((name) => after.get(name) !== before.get(name))).toEqual([]);
});
