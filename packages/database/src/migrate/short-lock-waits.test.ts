import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countLockWaits, createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDatabase, type Database, migrate, pendingMigrations } from '../index.ts';

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
    user = new pg.Client({ connectionString: server.url });
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
    expect(lines[0]).toBe(
      'unit: a table that a migration changes is in use; attempt 1 of 10000, the next in 0.05 s',
    );
    await user.query('COMMIT');
    await migrating;
    expect(await database.query('SELECT id, extra FROM notes')).toEqual([]);
  });

  it('ends with nothing applied where somebody uses it all the time', async () => {
    await expect(migrateAgain(2)).rejects.toThrow(/in use after 2 attempts; nothing was applied/);
    expect(lines).toHaveLength(1);
    expect(await pending()).toEqual(['0002_second']);
    await user.query('COMMIT');
    await migrateAgain();
    expect(await pending()).toEqual([]);
  });
});
