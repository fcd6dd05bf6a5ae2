import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createServiceDatabase, type ServiceDatabase } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { createDatabase, type Database } from './index.ts';

const poolSize = 2;
const migration = `
  CREATE TABLE notes (project_number int8 NOT NULL, id int NOT NULL, PRIMARY KEY (project_number, id));
  ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY project ON notes USING (
    CASE current_setting('backlot.project', true) WHEN 'all' THEN true
      ELSE project_number = nullif(current_setting('backlot.project', true), '')::int8 END);`;

let directory: string;
let server: ServiceDatabase;
let admin: pg.Client;
let database: Database;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backlot-migrations-'));
  await writeFile(join(directory, '0001_notes.sql'), migration);
  server = await createServiceDatabase({
    name: 'unit',
    migrations: pathToFileURL(`${directory}/`),
  });
  admin = new pg.Client({ connectionString: server.ownerUrl });
  await admin.connect();
  database = createDatabase({
    url: server.url,
    schema: 'unit',
    poolSize,
    statementTimeoutMs: 2000,
  });
});
beforeEach(() =>
  admin.query('TRUNCATE unit.notes; INSERT INTO unit.notes VALUES (7, 1), (7, 2), (8, 1)'),
);
afterAll(async () => {
  await database.close();
  await admin.end();
  await server.drop();
  await rm(directory, { recursive: true });
});

const select = 'SELECT project_number FROM notes ORDER BY 1, id';
const insert = (project: number, id: number) =>
  database.query('INSERT INTO notes VALUES ($1, $2)', [project, id]);
const numbers = (rows: { project_number: number }[]) => rows.map((row) => row.project_number);
/** Every way by which a statement gets to PostgreSQL. */
const ways: Record<string, () => Promise<number[]>> = {
  query: async () => numbers(await database.query(select)),
  execute: async () => numbers((await database.execute<{ project_number: number }>(select)).rows),
  scan: async () => numbers(await database.scan(select)),
  named: async () => numbers(await database.named('all-notes', select)),
  read: async () => (await database.read('read-notes', select)).map(([number]) => Number(number)),
  transaction: () => database.transaction(async () => numbers(await database.query(select))),
  detached: () =>
    database.transaction(() =>
      database.detached(async () => numbers(await database.query(select))),
    ),
};

describe.each(Object.keys(ways))('%s, without a WHERE,', (way) => {
  const seen = () => (ways[way] as () => Promise<number[]>)();

  it('reaches nothing outside of a scope, one project in one, and all across', async () => {
    expect(await seen()).toEqual([]);
    expect(await database.inProject(7, seen)).toEqual([7, 7]);
    expect(await database.inProject(8, seen)).toEqual([8]);
    expect(await seen()).toEqual([]);
    expect(await database.acrossProjects(seen)).toEqual([7, 7, 8]);
    expect(await database.inProject(9, seen)).toEqual([]);
  });

  it('reaches the own project alone among parallel calls that share connections', async () => {
    const scoped = [7, 8, 9].map((number) => () => database.inProject(number, seen));
    const calls = [...scoped, () => database.acrossProjects(seen), seen];
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (calls[n % calls.length] as () => Promise<number[]>)()),
    );
    const expected = [[7, 7], [8], [], [7, 7, 8], []];
    for (const [n, result] of results.entries()) expect(result).toEqual(expected[n % 5]);
  });
});

describe('rows of another project', () => {
  it('can be neither added, nor changed, nor moved, nor deleted', async () => {
    await database.inProject(7, async () => {
      await expect(insert(8, 5)).rejects.toThrow('row-level security');
      await expect(database.query('UPDATE notes SET project_number = 8')).rejects.toThrow(
        'row-level security',
      );
      await database.query('UPDATE notes SET id = id + 10');
      await database.query('DELETE FROM notes WHERE id = 11');
    });
    await expect(insert(7, 5)).rejects.toThrow('row-level security');
    const { rows } = await admin.query<{ row: string }>(
      `SELECT project_number || ':' || id AS row FROM unit.notes ORDER BY 1`,
    );
    expect(rows.map(({ row }) => row)).toEqual(['7:12', '8:1']);
  });
});

describe('a connection', () => {
  it('of the pool serves the next project after failures and rollbacks', async () => {
    for (let round = 0; round < 10; round++) {
      await database.inProject(7, async () => {
        await database.query('SELECT 1 / 0').catch(() => {});
        await database.query(select);
        const failing = database.transaction(async () => {
          await database.inProject(8, () => database.query(select));
          throw new Error('no');
        });
        await failing.catch(() => {});
      });
      await Promise.all([
        expect(ways.query?.()).resolves.toEqual([]),
        expect(ways.transaction?.()).resolves.toEqual([]),
        expect(database.inProject(8, async () => ways.query?.())).resolves.toEqual([8]),
        expect(database.inProject(8, async () => ways.transaction?.())).resolves.toEqual([8]),
      ]);
    }
  });

  it('begins without a project, whatever the role has as its default', async () => {
    const role = new URL(server.url).username;
    await admin.query(`ALTER ROLE ${role} SET backlot.project = 'all'`);
    const fresh = createDatabase({ url: server.url, schema: 'unit' });
    try {
      expect(await fresh.query(select)).toEqual([]);
      expect(await fresh.read('read-notes', select)).toEqual([]);
    } finally {
      await fresh.close();
      await admin.query(`ALTER ROLE ${role} RESET backlot.project`);
    }
  });

  it.each(Object.keys(ways))('that refuses a scope answers no %s, and is given up', async (way) => {
    const seen = () => (ways[way] as () => Promise<number[]>)();
    const newcomer = 100 + Object.keys(ways).indexOf(way);
    for (let n = 0; n < 10; n++) expect(await database.inProject(8, seen)).toEqual([8]);
    const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    const refusing = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const isScope = String(args[0]).includes('backlot.project');
      return send.apply(this, isScope ? ['SELECT 1 / 0'] : args);
    } as never);
    try {
      // Reads go to each of their two connections.
      for (let round = 0; round < 2; round++) {
        const calls = Array.from({ length: 10 }, () => database.inProject(newcomer, seen));
        for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
      }
    } finally {
      refusing.mockRestore();
    }
    for (let n = 0; n < 10; n++) expect(await database.inProject(7, seen)).toEqual([7, 7]);
  });
});

describe('a transaction', () => {
  it('is in the scope of each statement, nested and parallel ones included', async () => {
    await database.inProject(7, () =>
      database.transaction(async () => {
        const seen = () => ways.query?.();
        expect(await seen()).toEqual([7, 7]);
        expect(
          await Promise.all([
            database.inProject(8, async () => seen()),
            seen(),
            database.acrossProjects(async () => seen()),
            database.inProject(8, async () => seen()),
          ]),
        ).toEqual([[8], [7, 7], [7, 7, 8], [8]]);
        expect(await seen()).toEqual([7, 7]);
      }),
    );
  });

  it('keeps its scope after a savepoint that was rolled back or released', async () => {
    await database.inProject(7, () =>
      database.transaction(async () => {
        for (const outcome of ['rolled back', 'released']) {
          const nested = database.inProject(8, () =>
            database.transaction(async () => {
              expect(await ways.query?.()).toEqual([8]);
              if (outcome === 'rolled back') throw new Error('no');
            }),
          );
          await nested.catch(() => {});
          expect(await ways.query?.()).toEqual([7, 7]);
          expect(await database.inProject(8, async () => ways.query?.())).toEqual([8]);
        }
      }),
    );
    expect(await ways.query?.()).toEqual([]);
  });

  it('that began before a scope gives it back with its end', async () => {
    await database.transaction(() => database.inProject(7, async () => ways.query?.()));
    for (let n = 0; n < poolSize * 2; n++) expect(await ways.query?.()).toEqual([]);
  });
});

it('takes whole numbers alone', async () => {
  for (const number of [1.5, -1, Number.NaN, "7'; SELECT '" as unknown as number])
    await expect(database.inProject(number, async () => {})).rejects.toThrow(RangeError);
});
