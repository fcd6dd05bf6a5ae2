import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningPostgres, removeThrowaway, startPostgres } from '@backlot/local-servers';
import { dataFolders } from './data-folders.ts';

let server: RunningPostgres | undefined;

/**
 * One throwaway server for the whole run, in a folder of its own, so that two runs at once do not
 * meet. What killed runs left behind is removed. Where TEST_DATABASE_URL or DATABASE_URL names a server,
 * that one is used; each test makes databases of its own on it.
 */
export async function startSharedServer(rootDir: string): Promise<void> {
  const given = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL;
  if (given !== undefined) {
    process.env.TEST_DATABASE_URL = given;
    return;
  }
  const folders = await dataFolders(rootDir, 'test-postgres');
  for (const runs of folders.all) {
    for (const run of await readdir(runs)) await removeThrowaway(join(runs, run));
  }
  const dataDir = join(folders.chosen, randomBytes(6).toString('hex'));
  server = await startPostgres({ dataDir, throwaway: true });
  // The workers, which are started after this, inherit it.
  process.env.TEST_DATABASE_URL = server.url;
}

export async function stopSharedServer(): Promise<void> {
  if (server === undefined) return;
  await server.stop();
  server = undefined;
  delete process.env.TEST_DATABASE_URL;
}
