import { createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '../create-database.ts';
import type { Database } from '../database.ts';
import { DatabaseRefused } from '../errors.ts';
import { withClient } from './one-client.ts';
import { otherRole, retireRoles } from './retire-role.ts';
import { addressFor, grantToService } from './service-role.ts';

describe('the password of a service that is exchanged by a second role', () => {
  let postgres: TestDatabase;
  let first: string;
  const open: Database[] = [];
  beforeAll(async () => {
    postgres = await createTestDatabase();
    first = `${new URL(postgres.url).pathname.slice(1)}_notes`;
    await withClient({ connectionString: postgres.url }, async (client) => {
      await client.query('CREATE SCHEMA notes; CREATE TABLE notes.notes (id int)');
    });
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
    await postgres.drop();
  });

  const grant = (name: string, password: string) =>
    withClient({ connectionString: postgres.url }, (client) =>
      grantToService(client, { schema: 'notes', role: { name, password } }),
    );
  const connect = (name: string, password: string) => {
    const url = addressFor({ name, password }, postgres.url);
    const database = createDatabase({ url, schema: 'notes' });
    open.push(database);
    return database;
  };
  const write = (database: Database) => database.query('INSERT INTO notes VALUES (1) RETURNING id');

  it('has both work at once, and the one before end when nobody uses it any more', async () => {
    const second = otherRole(first);
    expect(otherRole(second)).toBe(first);
    await grant(first, 'before');
    const before = connect(first, 'before');
    expect(await write(before)).toEqual([{ id: 1 }]);

    await grant(second, 'after');
    const after = connect(second, 'after');
    expect(await write(after)).toEqual([{ id: 1 }]);
    expect(await before.scan('SELECT count(*) AS notes FROM notes')).toEqual([{ notes: 2 }]);
    await expect(retireRoles(postgres.url, [first])).rejects.toThrow(
      new RegExp(`Still connected: ${first} \\(\\d+\\)`),
    );
    expect(await write(before)).toEqual([{ id: 1 }]);

    await before.close();
    open.splice(open.indexOf(before), 1);
    // A session that was closed leaves the list of those that are connected a moment later.
    expect(await until(() => retireRoles(postgres.url, [first]))).toEqual([first]);
    expect(await retireRoles(postgres.url, [first])).toEqual([]);
    await expect(write(connect(first, 'before'))).rejects.toThrow(DatabaseRefused);
    expect(await write(after)).toEqual([{ id: 1 }]);

    await grant(first, 'the next one');
    expect(await write(connect(first, 'the next one'))).toEqual([{ id: 1 }]);
    await expect(write(connect(first, 'before'))).rejects.toThrow(DatabaseRefused);
  });
});
