import { createDatabase, type Database } from '@backlot/database';
import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createGlance } from './glance.ts';

describe('one look for many kinds of work', () => {
  let server: TestDatabase;
  let database: Database;
  let asked: string[];
  beforeAll(async () => {
    server = await createTestDatabase();
    const own = createDatabase({ url: server.url, schema: 'public' });
    asked = [];
    database = Object.assign(Object.create(own) as Database, {
      query: (text: string, values: unknown[]) => {
        asked.push(text);
        return own.query(text, values);
      },
    });
    await database.query('CREATE TABLE jobs (project_id int, kind text)');
  });
  afterAll(async () => {
    await database.close();
    await server.drop();
  });

  it('starts the kinds that have work, and asks once for all', async () => {
    const glance = createGlance(database);
    const done: string[] = [];
    const sweeps = ['erase', 'fill', 'undo'].map((kind) =>
      glance.before({
        nextSql: `SELECT DISTINCT ON (project_id) project_id FROM jobs WHERE kind = '${kind}' ORDER BY project_id, random()`,
        run: async () => void done.push(kind),
      }),
    );
    const sweepAll = async () => {
      asked.length = 0;
      await Promise.all(sweeps.map((sweep) => sweep()));
    };

    await sweepAll();
    expect(done).toEqual([]);
    expect(asked.filter((text) => text.includes('jobs'))).toHaveLength(1);

    await database.query("INSERT INTO jobs VALUES (1, 'fill'), (2, 'fill'), (1, 'undo')");
    await sweepAll();
    expect(done.sort()).toEqual(['fill', 'undo']);
    expect(asked.filter((text) => text.includes('jobs'))).toHaveLength(1);
  });
});
