import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database, DatabaseUnavailable, violatedConstraint } from './index.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  database = createDatabase({ url: server.url, schema: 'public', poolSize: 1 });
  await database.query('CREATE TABLE notes (id int PRIMARY KEY)');
});
beforeEach(() => database.query('TRUNCATE notes'));
afterAll(async () => {
  await database.close();
  await server.drop();
});

const insert = (id: number) => database.query('INSERT INTO notes VALUES ($1)', [id]);
const lastInsert = (id: number) =>
  database.commitWith({ name: 'note', text: 'INSERT INTO notes VALUES ($1)', values: [id] });
const ids = async () =>
  (await database.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map((row) => row.id);
const read = { name: 'xid', text: 'SELECT pg_current_xact_id()::text AS xid', values: [] };
interface Xid {
  xid: string;
}

describe('a transaction that begins with a read', () => {
  it('has it in the same transaction as all that follows, once or nested', async () => {
    const work = ([first]: readonly Xid[]) =>
      database.transactionFrom<Xid, string[]>(read, async ([second]) => {
        const [third] = await database.query<Xid>(read.text);
        return [first?.xid, second?.xid, third?.xid].map(String);
      });
    expect(new Set(await database.transactionFrom<Xid, string[]>(read, work)).size).toBe(1);
  });

  it('does nothing where the read fails, and leaves the connection to the next', async () => {
    const wrong = { name: 'wrong', text: 'SELECT 1 / $1::int AS one', values: [0] };
    const work = () => insert(1);
    await expect(database.transactionFrom(wrong, work)).rejects.toMatchObject({ code: '22012' });
    expect(await ids()).toEqual([]);
  });
});

describe('the last statement of a transaction', () => {
  it('is committed with it, and rolled back with it', async () => {
    await database.transaction(async () => {
      lastInsert(1);
      await insert(2);
    });
    const failing = database.transaction(async () => {
      lastInsert(3);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await ids()).toEqual([1, 2]);
  });

  it('fails it, so that nothing of it is kept and nothing runs after its commit', async () => {
    let isCommitted = false;
    const failing = database.transaction(async () => {
      database.afterCommit(() => {
        isCommitted = true;
      });
      await insert(1);
      lastInsert(1);
      lastInsert(2);
    });
    expect(await failing.catch(violatedConstraint)).toBe('notes_pkey');
    expect(isCommitted).toBe(false);
    expect(await ids()).toEqual([]);
  });

  it('of a nested one that fails is forgotten', async () => {
    await database.transaction(async () => {
      const nested = database.transaction(async () => {
        lastInsert(1);
        throw new Error('no');
      });
      await nested.catch(() => {});
      lastInsert(2);
    });
    expect(await ids()).toEqual([2]);
  });

  it('needs one', () => {
    expect(() => lastInsert(1)).toThrow('no transaction');
  });

  it('keeps nothing where the connection is lost before it', async () => {
    const admin = createDatabase({ url: server.url, schema: 'public' });
    const lost = database.transactionFrom<Xid, void>(read, async () => {
      await insert(1);
      const [own] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      lastInsert(2);
      await admin.query('SELECT pg_terminate_backend($1, 5000)', [own?.pid]);
    });
    await expect(lost).rejects.toThrow(DatabaseUnavailable);
    await admin.close();
    expect(await ids()).toEqual([]);
  });
});

describe('statements sent at once in a transaction', () => {
  it('run in their order', async () => {
    await database.transaction(async () => {
      await Promise.all([1, 2, 3].map(insert));
      const results = await Promise.all([insert(4), ids(), insert(5), ids()]);
      expect(results[1]).toEqual([1, 2, 3, 4]);
      expect(results[3]).toEqual([1, 2, 3, 4, 5]);
    });
  });

  it('leave nothing behind one that fails, unless it was nested', async () => {
    const failing = database.transaction(() => Promise.all([1, 1, 2].map(insert)));
    expect(await failing.catch(violatedConstraint)).toBe('notes_pkey');
    expect(await ids()).toEqual([]);
    await database.transaction(async () => {
      await insert(1);
      const nested = database.transaction(() => Promise.all([2, 1, 3].map(insert)));
      expect(await nested.catch(violatedConstraint)).toBe('notes_pkey');
      await insert(4);
    });
    expect(await ids()).toEqual([1, 4]);
  });
});
