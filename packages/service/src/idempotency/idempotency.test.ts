import { hash, hkdfSync } from 'node:crypto';
import { createDatabase, createSweeper, type Database } from '@backlot/database';
import type { Keep } from '@backlot/http';
import { sealUnder } from '@backlot/sealing';
import { createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdempotencyStore, keepAnswersSql } from './idempotency.ts';

/** As the first migration of a schema makes the table, and what a later one adds to it. */
const tableSql = `
CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);
ALTER TABLE idempotency ALTER COLUMN sealed_answer DROP NOT NULL, ADD COLUMN claim uuid`;

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  database = createDatabase({ url: server.url, schema: 'unit' });
  for (const statement of [
    'CREATE SCHEMA unit',
    'CREATE TABLE notes (id int PRIMARY KEY)',
    ...tableSql.split(';'),
  ])
    await database.query(statement);
});
beforeEach(() => database.query('TRUNCATE notes, idempotency'));
afterAll(async () => {
  await database.close();
  await server.drop();
});

const insert = (id: number) => database.query('INSERT INTO notes VALUES ($1)', [id]);
const ids = async () =>
  (await database.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map((row) => row.id);

describe('idempotent answers', () => {
  const tooLarge = () => ({ status: 409, headers: {}, body: '{"code":"conflict"}' });
  const call = {
    scope: 'p/u/route/k1',
    key: 'k1',
    request: 'body',
    text: '{}',
    owner: 'ada',
    tooLarge,
  };
  const answer = { status: 201, headers: { ETag: '"1"' }, body: '{"secret":"token"}' };
  const work = (id: number) => async () => {
    await insert(id);
    return answer;
  };
  const nothing = () => undefined;

  it('does the work once and replays its answer', async () => {
    const store = createIdempotencyStore(database);
    expect(await store.run(call, work(1), nothing)).toEqual({ answer, replayed: false });
    expect(await store.run(call, work(2), nothing)).toEqual({ answer, replayed: true });
    expect(await store.run({ ...call, request: 'other' }, work(3), nothing)).toBe('mismatch');
    expect(await ids()).toEqual([1]);
  });

  it('does it once for 20 at the same time', async () => {
    const store = createIdempotencyStore(database);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.run(call, work(n), nothing)),
    );
    expect(results.filter((result) => typeof result === 'object' && !result.replayed)).toHaveLength(
      1,
    );
    expect(await ids()).toHaveLength(1);
  });

  it('keeps nothing of a failure, unless that failure is an answer', async () => {
    const store = createIdempotencyStore(database);
    const failing = async () => {
      await insert(1);
      throw new Error('conflict');
    };
    await expect(store.run(call, failing, nothing)).rejects.toThrow('conflict');
    expect(await store.run(call, failing, () => ({ ...answer, status: 409 }))).toMatchObject({
      replayed: false,
    });
    expect(await store.run(call, work(2), nothing)).toMatchObject({
      answer: { status: 409 },
      replayed: true,
    });
    expect(await ids()).toEqual([]);
  });

  it('answers a failure with what another call has stored since', async () => {
    const store = createIdempotencyStore(database);
    const failing = async () => {
      throw new Error('conflict');
    };
    let isFirst = true;
    const overtaken = {
      ...database,
      async transactionFrom(...args: Parameters<Database['transactionFrom']>) {
        if (!isFirst) await store.run(call, work(2), nothing);
        isFirst = false;
        return database.transactionFrom(...args);
      },
    } as Database;
    const kept = () => ({ ...answer, status: 409 });
    expect(await createIdempotencyStore(overtaken).run(call, failing, kept)).toEqual({
      answer,
      replayed: true,
    });
    expect(await ids()).toEqual([2]);
  });

  it('undoes the work where another call has stored its answer since the look, and answers with that', async () => {
    const store = createIdempotencyStore(database);
    const overtaken = async () => {
      await insert(1);
      await database.detached(() => store.runInOne(call, writeWith(2), nothing));
      return { ...answer, body: 'of the first' };
    };
    expect(await store.run(call, overtaken, nothing)).toEqual({ answer, replayed: true });
    expect(await ids()).toEqual([2]);
  });

  it('keeps neither the work nor the answer where the connection is lost before the end', async () => {
    const store = createIdempotencyStore(database);
    const dying = async () => {
      await insert(1);
      const [own] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.detached(() =>
        database.query('SELECT pg_terminate_backend($1, 5000)', [own?.pid]),
      );
      return answer;
    };
    await expect(store.run(call, dying, nothing)).rejects.toMatchObject({ isUnavailable: true });
    expect(await ids()).toEqual([]);
    expect(await store.run(call, work(2), nothing)).toEqual({ answer, replayed: false });
  });

  it('stores no answer readable without the client’s key', async () => {
    await createIdempotencyStore(database).run(call, work(1), nothing);
    const [row] = await database.query<{ text: string }>(
      `SELECT encode(sealed_answer, 'escape') AS text FROM idempotency`,
    );
    expect(row?.text).not.toContain('token');
  });

  it.each([
    ['a text', 'x'.repeat(5000), 'x'.repeat(5000)],
    ['half a character and a text', `\u{1f4a4}${'é'.repeat(3000)}`, `\u{2f4a4}${'é'.repeat(3000)}`],
    ['no text', '', ''],
  ])(
    'stores nothing of an answer that its request has, and replays all of it: %s',
    async (_, sent, ended) => {
      const store = createIdempotencyStore(database);
      const long = { ...call, text: `{"data":{"text":"${sent}"}}` };
      const whole = { ...answer, body: `{"id":1,"text":"${ended}"}` };
      const write = async () => whole;
      expect(await store.run(long, write, nothing)).toEqual({ answer: whole, replayed: false });
      expect(await store.run(long, write, nothing)).toEqual({ answer: whole, replayed: true });
      const [row] = await database.query<{ bytes: number }>(
        'SELECT octet_length(sealed_answer) AS bytes FROM idempotency',
      );
      expect(row?.bytes).toBeLessThan(200);
    },
  );

  it('replays an answer that an earlier version has stored whole', async () => {
    const key = new Uint8Array(hkdfSync('sha256', call.key, call.scope, 'idempotent answer', 32));
    const hashes = [call.scope, call.request].map((text) => hash('sha256', text, 'buffer'));
    await database.query('INSERT INTO idempotency VALUES ($1, $2, $3)', [
      ...hashes,
      sealUnder(key, JSON.stringify(answer)),
    ]);
    const store = createIdempotencyStore(database);
    expect(await store.run(call, work(1), nothing)).toEqual({ answer, replayed: true });
  });

  /** One statement, which stores the answer where it is told how. */
  const writeWith =
    (id: number, written = answer) =>
    async (keep?: Keep) => {
      const values: unknown[] = [id];
      const add = (given: readonly Buffer[]) => `$${values.push(given)}::bytea[]`;
      const kept = keepAnswersSql(keep ? [keep(written)] : [], 'noted', add);
      await database.query(
        `WITH noted AS (INSERT INTO notes VALUES ($1) RETURNING 1)${kept} SELECT 1`,
        values,
      );
      return written;
    };

  it('stores the answer with one statement, readable with the client’s key alone', async () => {
    const store = createIdempotencyStore(database);
    const sent = { ...call, text: '{"data":{"a":"private"}}' };
    const created = { ...answer, body: '{"id":"made","a":"private"}' };
    await store.runInOne(sent, writeWith(1, created), nothing);
    const [row] = await database.query<{ stored: string }>(
      `SELECT encode(sealed_answer, 'escape') AS stored FROM idempotency`,
    );
    expect(row?.stored).not.toMatch(/made|private/);
    const again = await store.runInOne(sent, writeWith(2), nothing);
    expect(again).toEqual({ answer: created, replayed: true });
  });

  it('replays an answer that the release before has stored as it is', async () => {
    const sent = { ...call, text: '{"data":{"a":"private"}}' };
    const hashes = [call.scope, call.request].map((text) => hash('sha256', text, 'buffer'));
    const { body: _, ...rest } = answer;
    const stored = { sharedLength: 14, ...rest, start: '{"id":"made",' };
    await database.query('INSERT INTO idempotency VALUES ($1, $2, $3)', [
      ...hashes,
      Buffer.from(JSON.stringify(stored)),
    ]);
    const created = { ...answer, body: '{"id":"made","a":"private"}' };
    const store = createIdempotencyStore(database);
    expect(await store.run(sent, work(1), nothing)).toEqual({ answer: created, replayed: true });
  });

  it('stores the answer with one statement, does its work once and replays its answer', async () => {
    const store = createIdempotencyStore(database);
    const run = (id: number, request = call.request) =>
      store.runInOne({ ...call, request }, writeWith(id), nothing);
    expect(await run(1)).toEqual({ answer, replayed: false });
    expect(await run(2)).toEqual({ answer, replayed: true });
    expect(await run(3, 'other')).toBe('mismatch');
    expect(await store.run(call, work(4), nothing)).toEqual({ answer, replayed: true });
    expect(await ids()).toEqual([1]);
    await database.query(`UPDATE idempotency SET created_at = now() - interval '25 hours'`);
    expect(await run(5)).toEqual({ answer, replayed: false });
    expect(await run(6)).toEqual({ answer, replayed: true });
    expect(await ids()).toEqual([1, 5]);
  });

  it('does one statement once for 20 at the same time, beside 20 that take three trips', async () => {
    const store = createIdempotencyStore(database);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0
          ? store.runInOne(call, writeWith(n), nothing)
          : store.run(call, work(n), nothing),
      ),
    );
    expect(results.filter((result) => typeof result === 'object' && !result.replayed)).toHaveLength(
      1,
    );
    expect(await ids()).toHaveLength(1);
  });

  it('keeps the failure of one statement that is an answer, and nothing of any other', async () => {
    const store = createIdempotencyStore(database);
    const failing = () => Promise.reject(new Error('conflict'));
    await expect(store.runInOne(call, failing, nothing)).rejects.toThrow('conflict');
    const conflict = { ...answer, status: 409 };
    const kept = () => conflict;
    expect(await store.runInOne(call, failing, kept)).toMatchObject({ replayed: false });
    expect(await store.runInOne(call, writeWith(1), kept)).toEqual({
      answer: conflict,
      replayed: true,
    });
    expect(await ids()).toEqual([]);
  });

  const finish = (id: number) => async () => {
    await insert(id);
    return answer;
  };
  const slowly = (id: number) => async () => finish(id);

  it('does slow work once, without a transaction, and commits its writes with its answer', async () => {
    const store = createIdempotencyStore(database);
    let free = 0;
    const work = async () => {
      const [row] = await database.query<{ open: number }>(
        `SELECT count(*)::int AS open FROM pg_stat_activity
          WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      free = row?.open ?? -1;
      return finish(1);
    };
    expect(await store.runSlow(call, work, nothing)).toEqual({ answer, replayed: false });
    expect(free).toBe(0);
    expect(await store.runSlow(call, slowly(2), nothing)).toEqual({ answer, replayed: true });
    expect(await store.runSlow({ ...call, request: 'other' }, slowly(3), nothing)).toBe('mismatch');
    expect(await ids()).toEqual([1]);
  });

  it('lets one of 20 do slow work at the same time', async () => {
    const store = createIdempotencyStore(database);
    let started = 0;
    const work = (id: number) => async () => {
      started += 1;
      return finish(id);
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.runSlow(call, work(n), nothing)));
    expect(started).toBe(1);
    expect(await ids()).toHaveLength(1);
  });

  it('frees the claim of slow work that failed, or keeps the failure that is an answer', async () => {
    const store = createIdempotencyStore(database);
    const failing = () => Promise.reject(new Error('no answer'));
    const failingCommit = async () => async () => {
      await insert(1);
      throw new Error('not stored');
    };
    await expect(store.runSlow(call, failing, nothing)).rejects.toThrow('no answer');
    await expect(store.runSlow(call, failingCommit, nothing)).rejects.toThrow('not stored');
    expect(await ids()).toEqual([]);
    const conflict = { ...answer, status: 409 };
    expect(await store.runSlow(call, failing, () => conflict)).toEqual({
      answer: conflict,
      replayed: false,
    });
    expect(await store.runSlow(call, slowly(2), nothing)).toEqual({
      answer: conflict,
      replayed: true,
    });
  });

  it('frees the claim of a process that died, whose late answer is not stored', async () => {
    const store = createIdempotencyStore(database);
    let die = () => {};
    const late = store.runSlow(
      call,
      () =>
        new Promise((resolve) => {
          die = () => resolve(finish(1));
        }),
      nothing,
    );
    await until(async () => (await database.query('SELECT 1 FROM idempotency')).length === 1);
    expect(await store.runSlow(call, slowly(2), nothing)).toBe('in_progress');
    await database.query(`UPDATE idempotency SET created_at = now() - interval '121 seconds'`);
    expect(await store.runSlow(call, slowly(2), nothing)).toEqual({ answer, replayed: false });
    die();
    expect(await late).toBe('in_progress');
    expect(await ids()).toEqual([2]);
  });

  it.each(['INSERT INTO idempotency', 'DELETE FROM idempotency'])(
    'frees a claim whose statement is written though nobody heard of it: %s',
    async (lost) => {
      const asked: string[] = [];
      const unheard = {
        ...database,
        async query(text: string, values: readonly unknown[]) {
          const isFirst = text.startsWith(lost) && !asked.some((known) => known === lost);
          if (isFirst) asked.push(lost);
          // The one is written all the same, the other is not.
          if (!isFirst || lost.startsWith('INSERT')) {
            const rows = await database.query(text, values);
            if (!isFirst) return rows;
          }
          throw new Error('It is silent.');
        },
      } as Database;
      const store = createIdempotencyStore(unheard);
      const failing = () => Promise.reject(new Error('It is silent.'));
      await expect(store.runSlow(call, failing, nothing)).rejects.toThrow('It is silent.');
      expect(await database.query('SELECT 1 FROM idempotency')).toHaveLength(1);
      const again = await until(async () => {
        const result = await store.runSlow(call, slowly(1), nothing);
        return result !== 'in_progress' && result;
      });
      expect(again).toEqual({ answer, replayed: false });
      expect(await ids()).toEqual([1]);
    },
  );

  it('forgets answers after 24 hours', async () => {
    const store = createIdempotencyStore(database);
    await store.run(call, work(1), nothing);
    await database.query(`UPDATE idempotency SET created_at = now() - interval '25 hours'`);
    expect(await store.run(call, work(2), nothing)).toMatchObject({ replayed: false });
    await database.query(`UPDATE idempotency SET created_at = now() - interval '25 hours'`);
    await store.sweep();
    expect(await database.query('SELECT 1 FROM idempotency')).toEqual([]);
  });

  it('forgets however many there are', async () => {
    const store = createIdempotencyStore(database);
    await database.query(
      `INSERT INTO idempotency (scope_hash, request_hash, created_at)
       SELECT sha256(n::text::bytea), '', now() - interval '25 hours' FROM generate_series(1, 20001) AS n`,
    );
    const sweeper = createSweeper(store.sweep, () => {});
    sweeper.start();
    await until(
      async () => (await database.query('SELECT 1 FROM idempotency LIMIT 1')).length === 0,
    );
    await sweeper.stop();
  });

  it('keeps so many bytes of large ones of an owner a day, and does nothing twice', async () => {
    let nowMs = 0;
    const store = createIdempotencyStore(database, { now: () => nowMs, bytesADay: 5000 });
    const run = async (n: number, length: number, owner = 'ada') => {
      const own = { ...call, owner, scope: `scope ${n}` };
      const large = { ...answer, body: JSON.stringify({ text: 'x'.repeat(length) }) };
      const working = async () => ({ ...(await work(n)()), ...large });
      const first = await store.run(own, working, nothing);
      expect(first).toEqual({ answer: large, replayed: false });
      const again = await store.run(own, work(0), nothing);
      expect([
        { answer: large, replayed: true },
        { answer: tooLarge(), replayed: true },
      ]).toContainEqual(again);
      return typeof again === 'object' && again.answer.status === 201;
    };
    expect([await run(1, 2000), await run(2, 2000), await run(3, 2000)]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await run(4, 500), await run(5, 2000, 'bob')]).toEqual([true, true]);
    nowMs = 24 * 60 * 60_000;
    expect(await run(6, 2000)).toBe(true);
    expect(await ids()).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
