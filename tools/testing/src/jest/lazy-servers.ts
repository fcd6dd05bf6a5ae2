import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type HeldLock, removeThrowawayServer, tryLock } from '@backlot/local-servers';

let run: { dir: string; held: HeldLock } | undefined;

/**
 * A folder in which the first test that needs Redis or RabbitMQ starts it for the whole run. What
 * killed runs left behind is ended and removed.
 */
export async function prepareLazyServers(rootDir: string): Promise<void> {
  const runs = join(rootDir, '.backlot', 'test-servers');
  await mkdir(runs, { recursive: true });
  for (const name of await readdir(runs)) {
    const dir = join(runs, name);
    const held = await tryLock(dir);
    if (held !== undefined) await removeRun(dir, held);
  }
  const dir = join(runs, randomBytes(6).toString('hex'));
  const held = await tryLock(dir);
  if (held === undefined) throw new Error(`${dir} is in use.`);
  await mkdir(dir);
  run = { dir, held };
  // The workers, which are started after this, inherit it.
  process.env.TEST_SERVERS_DIR = dir;
}

export async function stopLazyServers(): Promise<void> {
  if (run === undefined) return;
  await removeRun(run.dir, run.held);
  run = undefined;
  delete process.env.TEST_SERVERS_DIR;
}

async function removeRun(dir: string, held: HeldLock): Promise<void> {
  // A run that began at the same moment may have removed it already.
  const names = await readdir(dir).catch(() => []);
  // Held by the tests of this process where jest has no workers.
  for (const name of names) await removeThrowawayServer(join(dir, name), true);
  await rm(dir, { recursive: true, force: true });
  await held.release();
}
