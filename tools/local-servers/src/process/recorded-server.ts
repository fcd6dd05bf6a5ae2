import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeContainer } from './container.ts';
import { commandLine } from './leftover-server.ts';

interface ProgramRecord {
  /** The server's process group. */
  pid: number;
  /** Part of its command line, by which a stranger with the same id is told apart. */
  marker: string;
}

/** What ends a server of ours whose owner was killed. */
export type ServerRecord = ProgramRecord | { container: string };

const recordFile = (dataDir: string) => join(dataDir, 'server.json');

export async function recordServer(dataDir: string, record: ServerRecord): Promise<void> {
  await writeFile(recordFile(dataDir), JSON.stringify(record), { mode: 0o600 });
}

/** @param withData removes a container's data too; a folder's is the caller's to remove */
export async function endRecordedServer(dataDir: string, withData: boolean): Promise<void> {
  const record = await readRecord(dataDir);
  if (record === undefined) return;
  if ('container' in record) await removeContainer(record.container, withData);
  else if (await isAlive(record)) {
    process.kill(-record.pid, 'SIGKILL');
    const deadline = Date.now() + 10_000;
    while (await isAlive(record)) {
      if (Date.now() > deadline) throw new Error(`Process ${record.pid} does not end: end it.`);
      await sleep(20);
    }
  }
  await rm(recordFile(dataDir), { force: true });
}

async function isAlive({ pid, marker }: ProgramRecord): Promise<boolean> {
  return (await commandLine(pid)).includes(marker);
}

async function readRecord(dataDir: string): Promise<ServerRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordFile(dataDir), 'utf8'));
  } catch {
    return undefined;
  }
}
