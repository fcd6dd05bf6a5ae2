import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { until } from '../until.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('createTestDatabase', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('gives an empty database of its own', async () => {
    const other = await createTestDatabase();
    expect(other.url).not.toBe(database.url);
    const { rows } = await client.query(
      "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'",
    );
    expect(rows).toEqual([{ tables: 0 }]);
    await other.drop();
  });

  it('sorts text by code point', async () => {
    const { rows } = await client.query(
      "SELECT string_agg(t, ' ' ORDER BY t) AS sorted FROM unnest('{é,b,Z,a,😀,～}'::text[]) t",
    );
    expect(rows).toEqual([{ sorted: 'Z a b é ～ 😀' }]);
  });

  it('knows the letters of all languages, by the built-in locale', async () => {
    const { rows } = await client.query("SELECT upper('ąé') AS upper, 'É' ~* 'é' AS same");
    expect(rows).toEqual([{ upper: 'ĄÉ', same: true }]);
  });

  it('drops a database that still has sessions, and may be asked twice', async () => {
    const other = await createTestDatabase();
    const session = new pg.Client({ connectionString: other.url });
    const errors: Error[] = [];
    session.on('error', (error) => errors.push(error));
    await session.connect();
    await other.drop();
    expect((await until(() => errors[0])).message).toMatch(/terminat/);
    await other.drop();
    const late = new pg.Client({ connectionString: other.url });
    await expect(late.connect()).rejects.toThrow('does not exist');
  });
});
