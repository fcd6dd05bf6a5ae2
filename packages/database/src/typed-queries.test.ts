import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createDatabase } from './create-database.ts';
import type { Database } from './database.ts';
import { createQueries } from './typed-queries.ts';

interface Tables {
  things: { id: number; name: string; seen_at: Date | null };
}

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = createDatabase({ url: test.url, schema: 'public' });
  await database.query('CREATE TABLE things (id int8 PRIMARY KEY, name text, seen_at timestamptz)');
});
afterAll(async () => {
  await database.close();
  await test.drop();
});
beforeEach(() => database.query('DELETE FROM things'));

const insert = (...ids: number[]) =>
  createQueries<Tables>(database)
    .insertInto('things')
    .values(ids.map((id) => ({ id, name: `thing ${id}`, seen_at: null })))
    .execute();

it('reads and writes rows with the types that the database gives them', async () => {
  const things = createQueries<Tables>(database);
  await insert(1, 2, 3);
  const seenAt = new Date('2026-01-02T03:04:05.678Z');
  const updated = await things
    .updateTable('things')
    .set({ seen_at: seenAt })
    .where('id', '>=', 2)
    .executeTakeFirst();
  expect(updated.numUpdatedRows).toBe(2n);
  expect(await things.selectFrom('things').selectAll().where('id', 'in', [1, 2]).execute()).toEqual(
    [
      { id: 1, name: 'thing 1', seen_at: null },
      { id: 2, name: 'thing 2', seen_at: seenAt },
    ],
  );
  // @ts-expect-error no such column
  await expect(things.selectFrom('things').select('nmae').execute()).rejects.toThrow('nmae');
});

it('joins the transaction that it is in, and is rolled back with it', async () => {
  const work = database.transaction(async () => {
    await insert(1);
    expect(await database.query('SELECT id FROM things')).toEqual([{ id: 1 }]);
    throw new Error('no');
  });
  await expect(work).rejects.toThrow('no');
  expect(await database.query('SELECT id FROM things')).toEqual([]);
});

it('fails as every other statement does', async () => {
  await insert(1);
  await expect(insert(1)).rejects.toMatchObject({ code: '23505', constraint: 'things_pkey' });
  const away = createDatabase({ url: 'postgres://127.0.0.1:1/x', schema: 'public' });
  const query = createQueries<Tables>(away).selectFrom('things').selectAll().execute();
  await expect(query).rejects.toMatchObject({ isUnavailable: true });
  await away.close();
});
