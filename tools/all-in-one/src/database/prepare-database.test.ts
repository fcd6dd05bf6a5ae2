import { type ServiceName, serviceNames } from '@backlot/contract';
import { migrate } from '@backlot/database';
import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrations } from '../service-list.ts';
import { type DatabaseUrls, prepareDatabase } from './prepare-database.ts';

const refused = '42501';
const silent = () => {};

const run = async <Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
};
/** PostgreSQL's code of the error, or `done`. */
const outcome = (url: string, text: string) =>
  run(url, text).then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

describe('a role', () => {
  let database: TestDatabase;
  let urls: DatabaseUrls;
  let tables: { schema: string; name: string }[];
  beforeAll(async () => {
    database = await createTestDatabase();
    urls = await prepareDatabase(database.url, silent);
    tables = await run(
      database.url,
      `SELECT schemaname AS schema, tablename AS name FROM pg_tables
        WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
  });
  afterAll(() => database.drop());

  describe.each(serviceNames)('of %s', (name) => {
    const own = () =>
      tables.filter((table) => table.schema === name && table.name !== 'migrations');
    const attempt = (text: string) => outcome(urls[name], text);

    it('is a plain one', async () => {
      expect(
        await run(
          urls[name],
          `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
             FROM pg_roles WHERE rolname = current_user`,
        ),
      ).toEqual([
        {
          rolname: expect.stringMatching(new RegExp(`_${name}$`)),
          rolsuper: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolreplication: false,
          rolbypassrls: false,
        },
      ]);
    });

    it('reads and writes every table of its own schema', async () => {
      expect(own().length).toBeGreaterThan(1);
      for (const { schema, name: table } of own()) {
        const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map(
          (right) => `has_table_privilege('${schema}.${table}', '${right}')`,
        );
        expect(await run(urls[name], `SELECT ${rights.join(' AND ')} AS allowed`)).toEqual([
          { allowed: true },
        ]);
      }
    });

    it('reads and writes no table of another', async () => {
      const others = tables.filter(({ schema }) => schema !== name);
      expect(new Set(others.map(({ schema }) => schema)).size).toBe(serviceNames.length - 1);
      for (const { schema, name: table } of others) {
        expect(await attempt(`SELECT FROM ${schema}.${table} LIMIT 1`)).toBe(refused);
        expect(await attempt(`DELETE FROM ${schema}.${table}`)).toBe(refused);
      }
    });

    it('changes no table, and none of what has been migrated', async () => {
      const [table] = own();
      for (const text of [
        `ALTER TABLE ${name}.${table?.name} ADD extra int`,
        `ALTER TABLE ${name}.${table?.name} DISABLE TRIGGER ALL`,
        `ALTER TABLE ${name}.${table?.name} DISABLE ROW LEVEL SECURITY`,
        `DROP TABLE ${name}.${table?.name}`,
        `TRUNCATE ${name}.${table?.name}`,
        `CREATE INDEX ON ${name}.${table?.name} ((1))`,
        `DELETE FROM ${name}.migrations`,
        `INSERT INTO ${name}.migrations (name, run_on) VALUES ('x', now())`,
        `UPDATE ${name}.migrations SET name = 'x'`,
      ])
        expect([text, await attempt(text)]).toEqual([text, refused]);
    });

    it('makes nothing', async () => {
      for (const text of [
        `CREATE TABLE ${name}.mine ()`,
        'CREATE TABLE public.mine ()',
        'CREATE TEMP TABLE mine ()',
        'CREATE SCHEMA mine',
        `CREATE FUNCTION ${name}.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
        'CREATE ROLE mine',
        'CREATE DATABASE mine',
      ])
        expect([text, await attempt(text)]).toEqual([text, refused]);
    });

    it('has nothing of a superuser', async () => {
      const { username } = new URL(database.url);
      for (const text of [
        `SET ROLE ${username}`,
        `SET SESSION AUTHORIZATION ${username}`,
        `GRANT ${username} TO CURRENT_USER`,
        'ALTER ROLE CURRENT_USER SUPERUSER',
        'ALTER ROLE CURRENT_USER BYPASSRLS',
        "ALTER SYSTEM SET work_mem = '1GB'",
        'SET session_replication_role = replica',
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('postgresql.conf')",
        "SELECT pg_ls_dir('.')",
        'SELECT rolpassword FROM pg_authid',
        'SELECT pg_reload_conf()',
      ])
        expect([text, await attempt(text)]).toEqual([text, refused]);
    });
  });
});

describe('a prepared database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  const read = (urls: DatabaseUrls, name: ServiceName = 'auth') =>
    outcome(urls[name], `SELECT FROM ${name}.outbox`);

  it('may be one of an earlier version, where one role owned and read everything', async () => {
    for (const { schema, directory } of migrations)
      await migrate({ url: database.url, schema, directory });
    await run(database.url, `INSERT INTO auth.outbox (topic, payload) VALUES ('kept', '{}')`);
    const urls = await prepareDatabase(database.url, silent);
    expect(await run(urls.auth, 'SELECT topic FROM auth.outbox')).toEqual([{ topic: 'kept' }]);
  });

  it('is prepared again at the next start, with other passwords', async () => {
    const first = await prepareDatabase(database.url, silent);
    const second = await prepareDatabase(database.url, silent);
    expect(await read(second)).toBe('done');
    expect(await read(first)).toBe('28P01');
  });

  it('lets nobody else in', async () => {
    const other = `${new URL(database.url).pathname.slice(1)}_other`;
    await run(database.url, `CREATE ROLE ${other} LOGIN PASSWORD 'other'`);
    const url = new URL(database.url);
    [url.username, url.password] = [other, 'other'];
    expect(await outcome(url.href, 'SELECT 1')).toBe(refused);
  });
});

describe('a database whose given role is no superuser', () => {
  const warnings: string[] = [];
  const prepareAs = async (right: 'CREATEROLE' | 'NOCREATEROLE') => {
    const database = await createTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await run(
      database.url,
      `CREATE ROLE ${name}_given LOGIN ${right} PASSWORD 'given'; ALTER DATABASE ${name} OWNER TO ${name}_given`,
    );
    const url = new URL(database.url);
    [url.username, url.password] = [`${name}_given`, 'given'];
    const urls = await prepareDatabase(url.href, (text) => warnings.push(text));
    return { database, given: url.href, urls };
  };

  it('is prepared where that role may create others', async () => {
    const { database, given, urls } = await prepareAs('CREATEROLE');
    expect(await outcome(urls.auth, 'SELECT FROM auth.outbox')).toBe('done');
    expect(await outcome(urls.email, 'SELECT FROM auth.outbox')).toBe(refused);
    const again = await prepareDatabase(given, silent);
    expect(await outcome(again.auth, 'SELECT FROM auth.outbox')).toBe('done');
    expect(warnings).toEqual([]);
    await database.drop();
  });

  it('is shared by all services, with a warning, where it may not', async () => {
    const { database, given, urls } = await prepareAs('NOCREATEROLE');
    expect(new Set(Object.values(urls))).toEqual(new Set([given]));
    expect(await outcome(urls.auth, 'SELECT FROM auth.outbox')).toBe('done');
    expect(warnings).toEqual([expect.stringContaining('CREATEROLE')]);
    await database.drop();
  });
});
