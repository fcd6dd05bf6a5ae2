import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@backlot/database';
import { createTestDatabase, until } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { readConfig } from './config.ts';
import { startPlatform } from './platform.ts';

it('an event that was left in an outbox reaches the services that start after its sender', async () => {
  const { url, drop } = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'backlot-services-'));
  const config = readConfig({
    PORT: '0',
    BACKLOT_DATA_DIR: dataDir,
    DATABASE_URL: url,
    BACKLOT_LOG_LEVEL: 'error',
  });
  const database = createDatabase({ url, schema: 'projects' });
  const erased = { projectId: 'another', projectNumber: 99 };
  const first = await startPlatform(config);
  await first.stop();
  await database.query(
    `INSERT INTO records.project_owners (project_id, owner_id) VALUES ($1, gen_random_uuid())`,
    [erased.projectNumber],
  );
  await database.query('INSERT INTO outbox (topic, payload) VALUES ($1, $2)', [
    'project.erased',
    JSON.stringify(erased),
  ]);
  const second = await startPlatform(config);
  const isSent = async () => (await database.query('SELECT FROM outbox')).length === 0;
  await until(isSent, { what: 'the event' });
  const left = 'SELECT FROM records.project_owners WHERE project_id = $1';
  expect(await database.query(left, [erased.projectNumber])).toEqual([]);
  await second.stop();
  await database.close();
  await drop();
  await rm(dataDir, { recursive: true });
});
