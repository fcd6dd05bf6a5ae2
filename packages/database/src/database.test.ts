import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { countLockWaits, createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import {
  createDatabase,
  createSweeper,
  type Database,
  DatabaseUnavailable,
  deleteExpired,
  migrate,
  StatementTimeout,
  scanConnections,
  violatedConstraint,
} from './index.ts';

let server: TestDatabase;
let directory: string;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'backlot-migrations-'));
  await writeFile(
    join(directory, '0001_first.sql'),
    `CREATE TABLE notes (id int PRIMARY KEY, text text NOT NULL);`,
  );
  await Promise.all([1, 2, 3].map(() => migrate({ url: server.url, schema: 'unit', directory })));
  database = createDatabase({ url: server.url, schema: 'unit', poolSize: 8 });
});
beforeEach(() => database.query('TRUNCATE notes'));
afterAll(async () => {
  await database.close();
  await server.drop();
  await rm(directory, { recursive: true });
});

const insert = (id: number, text = '') =>
  database.query('INSERT INTO notes VALUES ($1, $2)', [id, text]);
const ids = async () =>
  (await database.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map((row) => row.id);

describe('migrate', () => {
  it('applies each file once, in order, however many processes start at once', async () => {
    await writeFile(join(directory, '0002_second.sql'), 'ALTER TABLE notes ADD extra int;');
    await Promise.all([1, 2, 3].map(() => migrate({ url: server.url, schema: 'unit', directory })));
    expect(await database.query('SELECT name FROM migrations ORDER BY id')).toEqual([
      { name: '0001_first' },
      { name: '0002_second' },
    ]);
  });
});

describe('a statement', () => {
  it('leaves its values and rows to its caller alone, whether it fails or not', async () => {
    const seen: { sent: pg.QueryConfig; answer: Promise<pg.QueryResult> }[] = [];
    const query = pg.Client.prototype.query as (sent: pg.QueryConfig) => Promise<pg.QueryResult>;
    const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      sent: pg.QueryConfig,
    ) {
      const answer = query.call(this, sent);
      if (Array.isArray(sent.values)) seen.push({ sent, answer });
      return answer as never;
    } as never);
    const values = ['kept', 1];
    try {
      expect(await database.query('SELECT $1 AS text, $2::int AS n', values)).toEqual([
        { text: 'kept', n: 1 },
      ]);
      await expect(database.named('half', 'SELECT 1 / $1::int AS n', [0])).rejects.toThrow('zero');
    } finally {
      spy.mockRestore();
    }
    expect(values).toEqual(['kept', 1]);
    expect(seen.map(({ sent }) => sent.values)).toEqual([[], []]);
    expect((await seen[0]?.answer)?.rows).toEqual([]);
  });
});

describe('transaction', () => {
  it('is joined by every call inside, also by reads, and rolls back as a whole', async () => {
    const work = database.transaction(async () => {
      await insert(1);
      expect(await database.read('ids', 'SELECT id FROM notes')).toEqual([['1']]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
  });

  it('nests as savepoints', async () => {
    await database.transaction(async () => {
      await insert(1);
      await database.transaction(() => insert(1)).catch(() => {});
      await insert(2);
    });
    expect(await ids()).toEqual([1, 2]);
  });

  it('keeps what was written detached from it', async () => {
    await database
      .transaction(async () => {
        await insert(1);
        await database.detached(() => insert(2));
        throw new Error('no');
      })
      .catch(() => {});
    expect(await ids()).toEqual([2]);
  });

  it('leaves room for detached work when transactions fill the pool', async () => {
    const small = createDatabase({ url: server.url, schema: 'unit', poolSize: 1 });
    const insideFull = small.transaction(() =>
      small.detached(() => small.transaction(() => small.query('SELECT 1 AS one'))),
    );
    expect(await insideFull).toEqual([{ one: 1 }]);
    await small.close();
  });

  it('runs afterCommit work only when it has committed', async () => {
    const ran: string[] = [];
    await database.transaction(async () => database.afterCommit(() => void ran.push('committed')));
    await database
      .transaction(async () => {
        database.afterCommit(() => void ran.push('rolled back'));
        throw new Error('no');
      })
      .catch(() => {});
    expect(ran).toEqual(['committed']);
  });

  it('is left behind by work that outlives it', async () => {
    let later: Promise<unknown> = Promise.resolve();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await database.transaction(async () => {
      later = gate.then(() => insert(7));
    });
    release();
    await later;
    expect(await ids()).toEqual([7]);
  });
});

describe('failures', () => {
  it('names the violated constraint', async () => {
    await insert(1);
    expect(await insert(1).catch(violatedConstraint)).toBe('notes_pkey');
  });

  it('cancels a statement that runs too long', async () => {
    const hurried = createDatabase({
      url: server.url,
      schema: 'unit',
      statementTimeoutMs: 500,
      scanTimeoutMs: 500,
    });
    const sleep = 'SELECT pg_sleep(60)';
    await expect(hurried.query(sleep)).rejects.toThrow(StatementTimeout);
    await expect(hurried.read('slow', sleep)).rejects.toThrow(StatementTimeout);
    await expect(hurried.scan(sleep)).rejects.toThrow(StatementTimeout);
    await hurried.close();
  });

  it('has connections for scans, for which nobody else waits', async () => {
    const small = createDatabase({
      url: server.url,
      schema: 'unit',
      poolSize: 1,
      scanTimeoutMs: 60_000,
    });
    let ended = 0;
    const scans: Promise<unknown>[] = [];
    await database.transaction(async () => {
      await database.query('SELECT pg_advisory_xact_lock(7)');
      for (let n = 0; n < scanConnections; n++)
        scans.push(
          small.scan('SELECT pg_advisory_xact_lock_shared(7)').finally(() => {
            ended += 1;
          }),
        );
      await until(async () => (await countLockWaits(server.url)) === scanConnections);
      await expect(small.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
      await expect(small.named('one', 'SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
      expect(ended).toBe(0);
    });
    await Promise.all(scans);
    await small.close();
  });

  it('keeps a connection for longer than the ten seconds that pools of pg do', async () => {
    const readPid = () => database.scan('SELECT pg_backend_pid()');
    const before = await readPid();
    await pause(11_000);
    expect(await readPid()).toEqual(before);
  });

  it('scans inside the transaction around it', async () => {
    await database.transaction(async () => {
      await insert(9);
      await expect(database.scan('SELECT id FROM notes')).resolves.toEqual([{ id: 9 }]);
    });
  });

  it('reports a server out of reach as unavailable', async () => {
    const away = createDatabase({ url: 'postgres://x:y@127.0.0.1:1/z', schema: 'unit' });
    await expect(away.query('SELECT 1')).rejects.toThrow(DatabaseUnavailable);
    await expect(away.read('one', 'SELECT 1')).rejects.toThrow(DatabaseUnavailable);
    await expect(away.transaction(async () => {})).rejects.toThrow(DatabaseUnavailable);
    await away.close();
  });

  it('reports a full pool as unavailable', async () => {
    const small = createDatabase({
      url: server.url,
      schema: 'unit',
      poolSize: 1,
      acquireTimeoutMs: 3000,
    });
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const busy = small.transaction(() => gate);
    await expect(small.query('SELECT 1')).rejects.toThrow(DatabaseUnavailable);
    release();
    await busy;
    await small.close();
  });

  it('outlives a server that ends a connection with the word that it is ready', async () => {
    const message = (type: string, text: string) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length + 4);
      return Buffer.concat([Buffer.from(type), length, Buffer.from(text, 'latin1')]);
    };
    const dying = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.end(
          Buffer.concat([
            message('R', '\0\0\0\0'),
            message('Z', 'I'),
            message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0'),
          ]),
        ),
      );
    });
    await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve));
    const { port } = dying.address() as AddressInfo;
    const doomed = createDatabase({ url: `postgres://a:b@127.0.0.1:${port}/c`, schema: 'unit' });
    await expect(doomed.transaction(async () => {})).rejects.toThrow(DatabaseUnavailable);
    await doomed.close();
    dying.close();
  });

  it('goes on after its connections were cut', async () => {
    await database.read('one', 'SELECT 1');
    // Waits for their ends, which would otherwise fail what the next tests ask.
    await database.query(
      'SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = $1',
      ['backlot-unit'],
    );
    await until(() =>
      database.read('one', 'SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    await until(() =>
      database.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  });
});

describe('read', () => {
  it('answers many callers at once, each its own rows as text', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        database.read('double', 'SELECT $1::int * 2, null::text', [n]),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 200 }, (_, n) => [[String(n * 2), null]]));
  });

  it('goes by an index that has the order, however small the table is when the plan is made', async () => {
    await database.query('CREATE TABLE small (id int, n int, PRIMARY KEY (id, n))');
    await database.query('INSERT INTO small SELECT 1, n FROM generate_series(1, 10) n');
    await database.query('ANALYZE small');
    const select = 'EXPLAIN SELECT n FROM small WHERE id = 1 ORDER BY n DESC LIMIT 5';
    const explain = async () => (await database.read('small', select)).join('\n');
    await until(async () => /Index Only Scan Backward/.test(await explain()));
    expect(await explain()).not.toMatch(/Sort|Seq Scan/);
  });

  it('fails one caller alone', async () => {
    const results = await Promise.allSettled(
      [1, 0, 2].map((n) => database.read('divide', 'SELECT 10 / $1::int', [n])),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('what has expired', () => {
  const expired = { table: 'notes', condition: 'id <= $1', values: [2500] };

  it('is deleted by one sweep, however much it is, a thousand rows at a time', async () => {
    await database.query("INSERT INTO notes SELECT id, '' FROM generate_series(1, 2600) id");
    const batches: number[] = [];
    const counted = {
      async query<Row>(text: string, values?: readonly unknown[]) {
        const rows = await database.query<Row>(text, values);
        batches.push(rows.length);
        return rows;
      },
    };
    const sweeper = createSweeper(
      () => deleteExpired(counted, [expired]),
      (error) => {
        throw error;
      },
    );
    sweeper.start();
    await until(async () => (await ids()).length === 100);
    await sweeper.stop();
    expect(batches).toEqual([1000, 1000, 500]);
  });

  it('is left to a later sweep where it is locked, and holds nobody up', async () => {
    for (const id of [1, 2, 3]) await insert(id);
    await database.transaction(async () => {
      await database.query('UPDATE notes SET text = $1 WHERE id = 2', ['in use']);
      await database.detached(() => deleteExpired(database, [expired]));
    });
    expect(await ids()).toEqual([2]);
    await deleteExpired(database, [expired]);
    expect(await ids()).toEqual([]);
  });
});
