import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countLockWaits, createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  createDatabase,
  type Database,
  migrate,
  migrationStatus,
  pendingMigrations,
} from '../index.ts';

const schema = 'unit';
const lockWaits = { timeoutMs: 200, pauseMs: 50 };

describe('a migration of a table that is in use', () => {
  let server: TestDatabase;
  let directory: string;
  let database: Database;
  let user: pg.Client;
  let lines: string[];
  beforeEach(async () => {
    server = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'backlot-migrations-'));
    await writeFile(join(directory, '0001_first.sql'), 'CREATE TABLE notes (id int);');
    await migrate({ url: server.url, schema, directory });
    await writeFile(
      join(directory, '0002_second.sql'),
      'CREATE TABLE others (id int); ALTER TABLE notes ADD extra int;',
    );
    database = createDatabase({ url: server.url, schema });
    user = new pg.Client({ connectionString: server.url, application_name: 'somebody' });
    await user.connect();
    await user.query('BEGIN; SELECT FROM unit.notes');
    lines = [];
  });
  afterEach(async () => {
    await user.end();
    await database.close();
    await server.drop();
    await rm(directory, { recursive: true });
  });

  const migrateAgain = (attempts?: number) =>
    migrate({
      url: server.url,
      schema,
      directory,
      lockWaits: { ...lockWaits, ...(attempts !== undefined && { attempts }) },
      warn: (line) => lines.push(line),
    });
  const pending = () => pendingMigrations({ url: server.url, schema, directory });

  it('lets others read meanwhile, and is applied once nobody else uses the table', async () => {
    const migrating = migrateAgain(10_000);
    await until(async () => (await countLockWaits(server.url)) > 0);
    for (let i = 0; i < 10; i++) await database.query('SELECT id FROM notes');
    await until(() => lines.length > 1);
    expect(lines[0]).toMatch(
      /^unit\.notes is in use by process \d+ of PostgreSQL \(somebody as \w+, idle in transaction, since [\d-]+T[\d:]+Z\); attempt 1 of 10000, the next in 0.05 s$/,
    );
    await user.query('COMMIT');
    await migrating;
    expect(await database.query('SELECT id, extra FROM notes')).toEqual([]);
  });

  it('ends with nothing applied where somebody uses it all the time', async () => {
    await expect(migrateAgain(2)).rejects.toThrow(
      /^unit\.notes is in use by process .*Nothing was applied after 2 attempts/,
    );
    expect(lines).toHaveLength(1);
    expect(await pending()).toEqual(['0002_second']);
    await user.query('COMMIT');
    await migrateAgain();
    expect(await pending()).toEqual([]);
  });

  it('ends a statement that takes too long, unless its file says how long it may take', async () => {
    await user.query('COMMIT');
    const second = join(directory, '0002_second.sql');
    const slow = 'SELECT pg_sleep(0.5);';
    await writeFile(second, slow);
    const migrating = () => migrate({ url: server.url, schema, directory, statementMs: 100 });
    await expect(migrating()).rejects.toThrow(/^unit: a statement of a migration took longer/);
    expect(await pending()).toEqual(['0002_second']);
    await writeFile(second, `SET LOCAL statement_timeout = '1min'; ${slow}`);
    await migrating();
    expect(await pending()).toEqual([]);
  });
});

describe('what has been applied', () => {
  let server: TestDatabase;
  let directory: string;
  beforeEach(async () => {
    server = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'backlot-migrations-'));
    await writeFile(join(directory, '0001_first.sql'), 'CREATE TABLE notes (id int);');
  });
  afterEach(async () => {
    await server.drop();
    await rm(directory, { recursive: true });
  });
  const status = () => migrationStatus({ url: server.url, schema, directory });

  it('is known with the release that applied it, beside what is pending and what others applied', async () => {
    expect(await status()).toEqual({
      schema,
      applied: [],
      pending: ['0001_first'],
      unknown: [],
    });
    await migrate({ url: server.url, schema, directory });
    await writeFile(join(directory, '0002_second.sql'), 'CREATE TABLE others (id int);');
    await migrate({ url: server.url, schema, directory, release: "1.2.3's" });
    await writeFile(join(directory, '0003_third.sql'), 'SELECT 1');
    await rm(join(directory, '0001_first.sql'));
    expect(await status()).toEqual({
      schema,
      applied: [
        { name: '0001_first', appliedAt: expect.any(String), release: null },
        { name: '0002_second', appliedAt: expect.any(String), release: "1.2.3's" },
      ],
      pending: ['0003_third'],
      unknown: ['0001_first'],
    });
  });
});
