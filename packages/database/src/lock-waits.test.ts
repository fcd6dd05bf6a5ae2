import { countLockWaits, createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database, type DatabaseOptions, LockTimeout } from './index.ts';

describe('statements that wait for a lock', () => {
  let server: TestDatabase;
  let place: Pick<DatabaseOptions, 'url' | 'schema'>;
  let database: Database;
  /** Another process. */
  let holder: Database;
  beforeAll(async () => {
    server = await createTestDatabase();
    place = { url: server.url, schema: 'public' };
    database = createDatabase({ ...place, poolSize: 1, statementTimeoutMs: 20_000 });
    holder = createDatabase(place);
    await holder.query('CREATE TABLE notes (id int PRIMARY KEY, n int)');
    await holder.query('INSERT INTO notes VALUES (1, 0), (2, 0)');
  });
  afterAll(async () => {
    await Promise.all([database.close(), holder.close()]);
    await server.drop();
  });

  const add = (id: number, own = database) =>
    own.query('UPDATE notes SET n = n + 1 WHERE id = $1', [id]);
  const read = async (id: number) => {
    const text = 'SELECT n FROM notes WHERE id = $1';
    return (await database.query<{ n: number }>(text, [id]))[0]?.n ?? 0;
  };
  const nothing = async () => {};
  const whileLocked = <T>(work: () => Promise<T>) =>
    holder.transaction(async () => {
      await holder.query('SELECT FROM notes WHERE id = 1 FOR UPDATE');
      return work();
    });
  const ways: [string, () => Promise<unknown>][] = [
    ['alone', () => add(1)],
    ['in a transaction', () => database.transaction(() => add(1))],
    [
      'in a transaction that begins with a read',
      () => database.transactionFrom({ name: 'one', text: 'SELECT 1', values: [] }, () => add(1)),
    ],
  ];

  it.each(ways)(
    'give their connection back, and run again until it is free: %s',
    async (_, work) => {
      const before = await read(1);
      let pauses = 0;
      const { locked } = await whileLocked(async () => {
        const locked = database.retryLocked(work, async () => {
          pauses += 1;
          await add(2);
        });
        await until(() => pauses >= 2);
        return { locked };
      });
      await locked;
      expect(await read(1)).toBe(before + 1);
    },
  );

  it('fail where it is not free in as much time as a statement may take', async () => {
    const hurried = createDatabase({ ...place, statementTimeoutMs: 1000 });
    await whileLocked(async () => {
      const locked = hurried.retryLocked(() => add(1, hurried), nothing);
      await expect(locked).rejects.toThrow(LockTimeout);
    });
    await hurried.close();
  });

  it('wait as long as they may where nothing else is said', async () => {
    await database.retryLocked(() => add(2), nothing);
    const { waiting } = await whileLocked(async () => {
      const waiting = add(1);
      await until(async () => (await countLockWaits(server.url)) === 1);
      return { waiting };
    });
    await waiting;
    expect(await database.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
  });
});
