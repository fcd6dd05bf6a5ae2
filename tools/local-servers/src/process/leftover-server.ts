import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** No process has this id: it lies above the greatest that any system gives. */
const nobody = 2_147_483_647;

/**
 * Ends the server that a killed process of ours left running on this cluster. A process that
 * merely got its id is left alone: only a command line that names this cluster counts.
 */
export async function stopLeftoverServer(
  cluster: string,
  log: (line: string) => void,
): Promise<void> {
  const pid = await readServerPid(cluster);
  if (pid === undefined) return;
  if (await servesCluster(pid, cluster)) {
    log(`stopping the PostgreSQL server that an earlier run left behind (process ${pid})`);
    if (!(await endServer(pid, cluster, 'SIGINT', 30_000))) {
      if (!(await endServer(pid, cluster, 'SIGQUIT', 10_000))) {
        throw new Error(
          `A PostgreSQL server on ${cluster} (process ${pid}) does not stop: end it.`,
        );
      }
    }
  }
  await disownLockFile(cluster);
}

/** Line 1 of PostgreSQL's lock file; undefined without one. */
export async function readServerPid(cluster: string): Promise<number | undefined> {
  const [line] = await readLockFile(cluster);
  const pid = Number(line);
  return Number.isSafeInteger(pid) && pid > 0 && pid < nobody ? pid : undefined;
}

/** True once the server with this process id takes connections (line 8 of its lock file). */
export async function isReady(cluster: string, pid: number): Promise<boolean> {
  const lines = await readLockFile(cluster);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

async function readLockFile(cluster: string): Promise<string[]> {
  try {
    return (await readFile(lockFile(cluster), 'utf8')).split('\n');
  } catch {
    return [];
  }
}

/**
 * PostgreSQL refuses to start while any process has the id in its lock file. Replacing the id,
 * instead of deleting the file, keeps the file's second guard: the shared memory key, by which
 * PostgreSQL sees that parts of a dead server still work on the data.
 */
async function disownLockFile(cluster: string): Promise<void> {
  const lines = await readLockFile(cluster);
  if (lines.length === 0) return;
  await writeFile(lockFile(cluster), [nobody, ...lines.slice(1)].join('\n'), { flag: 'r+' });
}

async function endServer(
  pid: number,
  cluster: string,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  process.kill(pid, signal);
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (!(await servesCluster(pid, cluster))) return true;
    await sleep(20);
  }
  return false;
}

async function servesCluster(pid: number, cluster: string): Promise<boolean> {
  return `${await commandLine(pid)} `.includes(` -D ${cluster} `);
}

/** Empty for a process that is gone, or a zombie. */
export async function commandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    }
    const query = `(Get-CimInstance Win32_Process -Filter ProcessId=${pid}).CommandLine`;
    const [file, args]: [string, string[]] =
      process.platform === 'win32'
        ? ['powershell', ['-NoProfile', '-Command', query]]
        : ['ps', ['-ww', '-o', 'command=', '-p', String(pid)]];
    return (await run(file, args)).stdout.trim();
  } catch {
    return '';
  }
}

function lockFile(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}
