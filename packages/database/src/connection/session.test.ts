import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  type RunningPgbouncer,
  startPgbouncer,
  type TestDatabase,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '../create-database.ts';
import { requireOwnSessions, SessionsShared } from './session.ts';

describe('a server behind PgBouncer', () => {
  let parent: string;
  let postgres: TestDatabase;
  let pooler: RunningPgbouncer | undefined;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-session-'));
    postgres = await createTestDatabase();
  });
  afterEach(async () => {
    await pooler?.stop();
    pooler = undefined;
  });
  afterAll(async () => {
    await postgres.drop();
    await rm(parent, { recursive: true });
  });
  const start = async (poolMode: 'session' | 'transaction' | 'statement', poolSize = 20) => {
    pooler = await startPgbouncer({
      dataDir: join(parent, poolMode),
      urls: [postgres.url],
      poolMode,
      poolSize,
    });
    return pooler.through(postgres.url);
  };

  it.each([
    ['transaction', 20],
    ['transaction', 1],
    ['statement', 20],
  ] as const)(
    'that shares sessions is refused by name: pool_mode = %s, %i connections',
    async (mode, size) => {
      const url = await start(mode, size);
      await expect(requireOwnSessions(url)).rejects.toThrow(SessionsShared);
      await expect(requireOwnSessions(url)).rejects.toThrow(/pool_mode = session/);
    },
  );

  it('that keeps sessions apart serves every statement with the settings of its own', async () => {
    const url = await start('session');
    await requireOwnSessions(url);
    const database = createDatabase({ url, schema: 'public' });
    const settings = ['backlot.project', 'search_path', 'jit', 'statement_timeout'];
    const columns = settings.map((name) => `current_setting('${name}')`).join(', ');
    const asked = Array.from({ length: 60 }, (_, n) =>
      database.inProject(n, async () => {
        const [row] = await database.query<{ all: string[] }>(`SELECT ARRAY[${columns}] AS all`);
        const [read] = await database.read('settings', `SELECT ${columns}`);
        return [row?.all, read];
      }),
    );
    for (const [n, answer] of (await Promise.all(asked)).entries())
      expect(answer).toEqual([
        [`${n}`, 'public', 'off', '5s'],
        [`${n}`, 'public', 'off', '5s'],
      ]);
    await database.close();
  });

  it('a statement that takes long without a byte is waited for', async () => {
    const url = await start('session');
    const database = createDatabase({ url, schema: 'public' });
    const [row] = await database.query(`SELECT 'slow' AS answer FROM pg_sleep(3)`);
    expect(row).toEqual({ answer: 'slow' });
    await database.close();
  });
});

it('PostgreSQL itself is not asked twice', async () => {
  const postgres = await createTestDatabase();
  await requireOwnSessions(postgres.url);
  await postgres.drop();
});
