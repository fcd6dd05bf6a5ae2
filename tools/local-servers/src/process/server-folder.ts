import { chmod, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type HeldLock, tryLock } from './lock.ts';
import { endRecordedServer } from './recorded-server.ts';

export interface ServerFolder {
  dataDir: string;
  throwaway: boolean;
  /** Lets go of the folder; a throwaway one is removed. */
  release(): Promise<void>;
}

const kindFile = 'kind';

/**
 * Creates the folder where needed, holds it against other processes and ends the server that a
 * killed process of ours left on it. Throws on a folder that holds anything else than this server's.
 */
export async function openServerFolder(
  dir: string,
  server: string,
  throwaway: boolean,
): Promise<ServerFolder> {
  await mkdir(dirname(resolve(dir)), { recursive: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(dir);
  const held = await tryLock(dataDir);
  if (held === undefined) throw new Error(`${dataDir} is in use by another running process.`);
  try {
    const kind = `${throwaway ? 'throwaway' : 'kept'} ${server}`;
    const present = await readKind(dataDir);
    if (present === undefined && (await readdir(dataDir)).length > 0) {
      throw new Error(`${dataDir} is neither empty nor a ${server} folder of Backlot.`);
    }
    if (present !== undefined && present !== kind) {
      throw new Error(`${dataDir} holds ${present} data, and ${kind} data was asked for.`);
    }
    await endRecordedServer(dataDir, throwaway);
    if (throwaway) await empty(dataDir);
    await writeFile(join(dataDir, kindFile), `${kind}\n`, { mode: 0o600 });
    await chmod(dataDir, 0o700);
  } catch (error) {
    await held.release();
    throw error;
  }
  return { dataDir, throwaway, release: () => release(dataDir, throwaway, held) };
}

/**
 * Ends and removes a throwaway Redis or RabbitMQ whose process is gone. Returns false, and does
 * nothing, when a living process holds the folder or it holds anything but throwaway data.
 * @param evenIfHeld by a process that is done with it
 */
export async function removeThrowawayServer(dir: string, evenIfHeld = false): Promise<boolean> {
  if (!(await readKind(dir))?.startsWith('throwaway ')) return false;
  const dataDir = await realpath(dir);
  const held = await tryLock(dataDir);
  if (held === undefined && !evenIfHeld) return false;
  try {
    await endRecordedServer(dataDir, true);
  } finally {
    await release(dataDir, true, held);
  }
  return true;
}

async function release(dataDir: string, throwaway: boolean, held?: HeldLock): Promise<void> {
  // A server that was just killed may still close a file of its own.
  if (throwaway) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  await held?.release();
}

async function empty(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

async function readKind(dir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dir, kindFile), 'utf8')).trim();
  } catch {
    return undefined;
  }
}
