import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate, pendingMigrations } from '@backlot/database';
import { createTestDatabase, type TestDatabase } from '@backlot/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { recordsService } from './service.ts';

const { name: schema, distributed, tablesIn } = recordsService;
const all = fileURLToPath(recordsService.migrations);

let database: TestDatabase;
let earlier: string;
beforeEach(async () => {
  database = await createTestDatabase();
  earlier = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await rm(earlier, { recursive: true });
  await database.drop();
});

it('new ones can be applied where the tables of those before are spread over a cluster', async () => {
  const { url } = database;
  for (const file of await readdir(all))
    if (file.slice(0, 4) <= '0011') await cp(join(all, file), join(earlier, file));
  const options = { url, schema, distributed, tablesIn };
  await migrate({ ...options, directory: earlier });
  expect(await pendingMigrations({ url, schema, directory: all })).not.toEqual([]);
  await migrate({ ...options, directory: all });
  expect(await pendingMigrations({ url, schema, directory: all })).toEqual([]);
});
