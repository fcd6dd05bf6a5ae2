import { createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDatabase } from './create-database.ts';
import type { Database } from './database.ts';
import { DatabaseRefused } from './errors.ts';

/** A role of one's own, so that its bounds are nobody else's. */
describe('PostgreSQL that does not do all of its work', () => {
  let postgres: TestDatabase;
  let admin: pg.Client;
  let role: string;
  let url: string;
  const open: Database[] = [];
  beforeAll(async () => {
    postgres = await createTestDatabase();
    admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    const address = new URL(postgres.url);
    role = `${address.pathname.slice(1)}_bounded`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'bounded'`);
    url = Object.assign(address, { username: role, password: 'bounded' }).href;
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
    await admin.end();
    await postgres.drop();
  });
  const connect = () => {
    const database = createDatabase({ url, schema: 'public' });
    open.push(database);
    return database;
  };
  const alter = (what: string) => admin.query(`ALTER ROLE ${role} ${what}`);

  it('has no trouble where everything works', async () => {
    expect(await connect().health()).toEqual({ isServing: true, trouble: undefined });
  });

  it('calls wait for the connections of their pool where it has no further one, and it is named', async () => {
    await alter('CONNECTION LIMIT 3');
    try {
      const database = connect();
      await database.query('SELECT 1');
      const held = connect();
      await held.query('SELECT 1');
      await held.detached(() => held.query('SELECT 1'));
      const calls = Array.from({ length: 40 }, () =>
        database.transaction(() => database.query('SELECT 1 AS done FROM pg_sleep(0.01)')),
      );
      for (const answer of await Promise.all(calls)) expect(answer).toEqual([{ done: 1 }]);
      await database.scan('SELECT 1').catch(() => {});
      expect(await database.health()).toEqual({
        isServing: true,
        trouble: 'connections_exhausted',
      });
    } finally {
      await alter('CONNECTION LIMIT -1');
    }
  });

  it('is named where there is not one connection for a service', async () => {
    await alter('CONNECTION LIMIT 0');
    expect(await connect().health()).toEqual({
      isServing: false,
      trouble: 'connections_exhausted',
    });
    await alter('CONNECTION LIMIT -1');
  });

  it('reads go on and writes fail: it is read-only, or has no room for a file', async () => {
    await alter('SET default_transaction_read_only = on');
    expect(await connect().health()).toEqual({ isServing: true, trouble: 'read_only' });
    await alter('RESET default_transaction_read_only');
    await alter('SET temp_file_limit = 0');
    expect(await connect().health()).toEqual({ isServing: true, trouble: 'disk_full' });
    await alter('RESET temp_file_limit');
  });

  it('refuses the password, which is told once and ends; calls keep to the connections that there are', async () => {
    const told: boolean[] = [];
    const database = createDatabase({ url, schema: 'public', onRefusal: (is) => told.push(is) });
    open.push(database);
    await database.query('SELECT 1');
    await alter("PASSWORD 'another'");
    expect(await database.health()).toEqual({ isServing: true, trouble: 'refuses_role' });
    const calls = Array.from({ length: 20 }, () => database.query('SELECT 1 AS done'));
    for (const answer of await Promise.all(calls)) expect(answer).toEqual([{ done: 1 }]);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
      role,
    ]);
    await until(async () => {
      const failure = await database.query('SELECT 1').catch((error: unknown) => error);
      return failure instanceof DatabaseRefused;
    });
    expect(told).toEqual([true]);
    await alter("PASSWORD 'bounded'");
    await until(async () => (await database.health()).trouble === undefined);
    expect(await database.query('SELECT 1 AS done')).toEqual([{ done: 1 }]);
    expect(told).toEqual([true, false]);
  });

  it('takes the role no more, or is gone', async () => {
    await alter('NOLOGIN');
    expect(await connect().health()).toEqual({ isServing: false, trouble: 'refuses_role' });
    await alter('LOGIN');
    const nowhere = createDatabase({ url: 'postgres://a:b@127.0.0.1:1/c', schema: 'public' });
    expect(await nowhere.health()).toEqual({ isServing: false, trouble: 'out_of_reach' });
    await nowhere.close();
  });
});
