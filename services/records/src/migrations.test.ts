import { readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type Database, migrate, pendingMigrations } from '@backlot/database';
import { asKey, createTestDatabase, type TestDatabase, testProject } from '@backlot/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { recordsService } from './service.ts';
import { createTestBed } from './testing/test-bed.ts';

const { name: schema, distributed } = recordsService;
const all = fileURLToPath(recordsService.migrations);
const files = readdirSync(all).sort();
const last = files.at(-1) ?? '';

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

const migrateTo = async (file: string, tables = distributed) => {
  for (const each of files.slice(0, files.indexOf(file) + 1))
    await cp(join(all, each), join(earlier, each));
  const options = { url: testDatabase.url, schema };
  await migrate({ ...options, directory: earlier, distributed: tables });
};
const pending = () => pendingMigrations({ url: testDatabase.url, schema, directory: all });

/** Several projects, so that each node of a cluster has some. */
const projects = [0, 1, 2, 3].map((n) => ({ ...testProject, number: testProject.number + n }));

/** A record of each project, in the columns that every version has had. */
const addRecords = async (n: number) => {
  for (const { number } of projects) {
    await database.query(
      `INSERT INTO collections (project_id, coll_id, name, access, created_at)
       VALUES ($1, 1, 'notes', 'shared', now()) ON CONFLICT DO NOTHING`,
      [number],
    );
    await database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       VALUES ($1, 1, $2, now(), now(), $3)`,
      [number, uuidv7(), { n }],
    );
  }
};

const expectRecords = async (expected: number[]) => {
  expect(await pending()).toEqual([]);
  const bed = await createTestBed({}, {}, { databaseUrl: testDatabase.url });
  for (const project of projects) {
    const call = (method: string, path: string, body?: object) =>
      bed.call(method, `/db/notes${path}`, { identity: asKey({ project }), ...(body && { body }) });
    const { items } = (await call('GET', '?sort=n')).body;
    expect(items.map(({ n }: { n: number }) => n)).toEqual(expected);
    expect((await call('GET', '/_count')).body).toEqual({ count: expected.length });
    const patch = { data: { text: 'new' }, inc: { n: 1 } };
    const { status, body } = await call('PATCH', `/${items[0].id}`, patch);
    expect([status, body.text, body.n]).toEqual([200, 'new', items[0].n + 1]);
  }
  await bed.close();
};

it('can be applied one after the other, where the tables of those before have records', async () => {
  for (const [n, file] of files.entries()) {
    await migrateTo(file);
    await addRecords(n);
  }
  await expectRecords([...files.keys()]);
});

it.each(files.slice(0, -1))('after %s all later ones can be applied at once', async (file) => {
  await migrateTo(file);
  await addRecords(1);
  expect(await pending()).not.toEqual([]);
  await migrateTo(last);
  expect(await pending()).toEqual([]);
});

it('bring records back that were in tables of their own, and no older state of them', async () => {
  await migrateTo('0030_given_shares.sql');
  await addRecords(1);
  await addRecords(2);
  const [first, second] = projects.map(({ number }) => number);
  await database.query('CREATE SCHEMA records_large');
  for (const number of [first, second]) {
    const own = `records_large.p${number}_c1`;
    await database.query(`CREATE TABLE ${own} (LIKE records INCLUDING ALL)`);
    await database.query(`INSERT INTO ${own} (project_id, coll_id, id, created_at, updated_at, data)
      SELECT project_id, coll_id, id, created_at, updated_at, '{"n": 7}' FROM records
      WHERE project_id = ${number} LIMIT 1`);
  }
  // The first has moved, and the rows that stayed behind were not deleted yet; the second was being copied.
  const setOwn = `UPDATE collections SET own_table = $2 WHERE project_id = $1`;
  await database.query(setOwn, [first, 'used']);
  await database.query(setOwn, [second, 'filling']);
  await database.query(
    `INSERT INTO moves (project_id, coll_id, state, since) VALUES ($1, 1, 'emptying', now())`,
    [first],
  );
  await migrateTo(last);
  const found = await database.query<{ n: number[] }>(
    `SELECT array_agg(data -> 'n' ORDER BY data -> 'n') AS n FROM records
     WHERE project_id = ANY ($1) GROUP BY project_id ORDER BY project_id`,
    [[first, second]],
  );
  expect(found).toEqual([{ n: [7] }, { n: [1, 2] }]);
  const collections = await database.query(
    'SELECT own_table, epoch FROM collections WHERE project_id = ANY ($1)',
    [[first, second]],
  );
  expect(collections).toEqual([
    { own_table: null, epoch: 2 },
    { own_table: null, epoch: 2 },
  ]);
  const left = await database.query(`SELECT FROM pg_namespace WHERE nspname = 'records_large'`);
  expect(left).toEqual([]);
});

it('spread tables over a cluster with the records that they have already', async () => {
  await migrateTo(last, []);
  await addRecords(1);
  await migrateTo(last);
  await expectRecords([1]);
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
  await migrateTo('0012_email_shares.sql');
  const before = await filesOfTables();
  await migrateTo(last);
  const after = await filesOfTables();
  const kept = [...before.keys()].filter((name) => after.has(name));
  expect(kept).toContain('records');
  expect(kept.filter((name) => after.get(name) !== before.get(name))).toEqual([]);
});

it('have no write parse a function: PostgreSQL looks into those in SQL that a constraint calls', async () => {
  await migrateTo(last);
  const parsed = await database.query<{ name: string }>(
    `SELECT DISTINCT proname AS name FROM pg_constraint
       JOIN pg_depend ON classid = 'pg_constraint'::regclass AND objid = pg_constraint.oid
       JOIN pg_proc ON refclassid = 'pg_proc'::regclass AND refobjid = pg_proc.oid
       JOIN pg_language ON pg_language.oid = prolang
     WHERE contype = 'c' AND connamespace = $1::regnamespace AND lanname = 'sql'`,
    [schema],
  );
  expect(parsed).toEqual([]);
});
