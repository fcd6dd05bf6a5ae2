import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  createTestProxy,
  type RunningPostgres,
  startPostgres,
  type TestDatabase,
  until,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  migrate,
} from '../index.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await createTestDatabase();
});
afterAll(() => shared.drop());

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const open = (url: string, options: Partial<DatabaseOptions> = {}) => {
  const states: boolean[] = [];
  const database = createDatabase({
    url,
    schema: 'public',
    onSilence: (isSilent) => states.push(isSilent),
    ...options,
  });
  closing.push(() => database.close());
  return { database, states };
};

const throughProxy = async (options: Partial<DatabaseOptions> = {}) => {
  const proxy = await createTestProxy(shared.url);
  closing.push(() => proxy.close());
  return { proxy, ...open(proxy.url, options) };
};

/** One call of each kind, on connections of each pool. */
const callAll = (database: Database) => [
  database.query('SELECT 1'),
  database.named('one', 'SELECT 1'),
  database.scan('SELECT 1'),
  database.read('read one', 'SELECT 1'),
  database.transaction(() => database.query('SELECT 1')),
  database.transaction(() => database.detached(() => database.query('SELECT 1'))),
];

const warmUp = async (database: Database) => {
  await Promise.all(callAll(database));
  // The reader's connections are opened by the first reads.
  await until(async () => {
    const rows = await database.read('own pid', 'SELECT pg_backend_pid()');
    const [again] = await database.read('own pid', 'SELECT pg_backend_pid()');
    return rows[0]?.[0] !== again?.[0];
  });
};

const expectUnavailable = (calls: Promise<unknown>[]) =>
  Promise.all(calls.map((call) => expect(call).rejects.toThrow(DatabaseUnavailable)));

const answersAgain = async (database: Database, states: boolean[]) => {
  await until(() => states.at(-1) === false, { what: 'the end of the silence' });
  await Promise.all([...callAll(database), ...callAll(database)]);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => [
      database.read('double', 'SELECT $1::int * 2', [n]),
      database.query<{ n: number }>('SELECT $1::int AS n', [n]),
    ]).flat(),
  );
  expect(answers).toEqual(
    Array.from({ length: 50 }, (_, n) => [[[String(n * 2)]], [{ n }]]).flat(),
  );
  // Nothing that was cut off is still open in a connection of the pools.
  expect(
    await database.query(
      `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    ),
  ).toEqual([]);
};

describe('a PostgreSQL whose processes stand still', () => {
  let server: RunningPostgres;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-silence-'));
    server = await startPostgres({ dataDir: join(folder, 'postgres'), throwaway: true });
  });
  afterAll(async () => {
    await server.thaw();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('fails calls as unavailable, also those under way, and is back by itself', async () => {
    const { database, states } = open(server.url);
    await warmUp(database);
    let freeze = () => {};
    const frozen = new Promise<void>((resolve) => {
      freeze = resolve;
    });
    const underWay = database.transaction(async () => {
      await database.query('CREATE TABLE half (id int)');
      await frozen;
      await database.query('SELECT 1');
    });
    await until(async () => {
      const rows = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'`,
      );
      return rows.length === 1;
    });
    await server.freeze();
    freeze();
    await expectUnavailable([underWay, ...callAll(database), ...callAll(database)]);
    await until(() => states.length === 1);
    // From here on nobody waits: this many would need the pool's eight connections in turn.
    await expectUnavailable(Array.from({ length: 500 }, () => callAll(database)).flat());
    await server.thaw();
    await answersAgain(database, states);
    expect(await database.query(`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
  });

  it('is given up by a process that starts, and by one that stops', async () => {
    const { database } = open(server.url);
    await warmUp(database);
    await server.freeze();
    await database.close();
    closing.length = 0;
    const migration = migrate({ url: server.url, schema: 'silent', directory: folder });
    await expect(migration).rejects.toThrow(DatabaseUnavailable);
    await server.thaw();
  });
});

describe('a network that drops packets', () => {
  it('on all connections fails calls as unavailable until it carries again', async () => {
    const { proxy, database, states } = await throughProxy();
    await warmUp(database);
    proxy.freeze();
    await expectUnavailable(callAll(database));
    await until(() => states.length === 1);
    proxy.thaw();
    await answersAgain(database, states);
  });

  it('before the first connection fails calls as unavailable', async () => {
    const { proxy, database, states } = await throughProxy();
    proxy.freeze();
    await expectUnavailable(callAll(database));
    await until(() => states.length === 1);
    proxy.thaw();
    await answersAgain(database, states);
  });

  it('and then greets later than a silent server is given time is found again, and used', async () => {
    const { proxy, database, states } = await throughProxy();
    await warmUp(database);
    proxy.freeze();
    await expectUnavailable(callAll(database));
    await until(() => states.length === 1);
    proxy.greetLate(2500);
    await until(() => states.at(-1) === false, { what: 'the end of the silence' });
    expect(await database.query('SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
    expect(states).toEqual([true, false]);
    proxy.greetLate(0);
  });

  it('on the connections of now ends these alone', async () => {
    const { proxy, database, states } = await throughProxy();
    await warmUp(database);
    proxy.forget();
    await expectUnavailable([
      database.query('SELECT 1'),
      database.read('one', 'SELECT 1'),
      database.transaction(() => database.query('SELECT 1')),
    ]);
    await until(() => Promise.all(callAll(database)).then(() => true));
    expect(states).toEqual([]);
  });
});

describe('a PostgreSQL at work', () => {
  it('is not taken for silent by a long statement', async () => {
    const { database, states } = open(shared.url);
    const calls = [
      database.query('SELECT pg_sleep(3)'),
      database.read('sleep', 'SELECT pg_sleep(3)'),
      database.transaction(() => database.query('SELECT pg_sleep(3)')),
    ];
    expect(await Promise.allSettled(calls)).toMatchObject(Array(3).fill({ status: 'fulfilled' }));
    expect(states).toEqual([]);
  });

  it('gives a transaction the time that it asks for, and no statement after it', async () => {
    const { database } = open(shared.url, { poolSize: 1, statementTimeoutMs: 100 });
    const sleepLong = () => database.query('SELECT pg_sleep(2) IS NULL AS slept');
    const options = { statementTimeoutMs: 60_000 };
    expect(await database.transaction(sleepLong, options)).toEqual([{ slept: false }]);
    await expect(sleepLong()).rejects.toThrow('statement time-out');
    await expect(database.transaction(sleepLong)).rejects.toThrow('statement time-out');
  });

  it('is left by a statement that it does not end in its time', async () => {
    const { database, states } = open(shared.url, { statementTimeoutMs: 100 });
    const stuck = database.transaction(async () => {
      await database.query('SET LOCAL statement_timeout = 0');
      await database.query('SELECT pg_sleep(60)');
    });
    await expect(stuck).rejects.toThrow(DatabaseUnavailable);
    expect(states).toEqual([]);
  });
});
