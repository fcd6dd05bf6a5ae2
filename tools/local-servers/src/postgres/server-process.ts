import type { ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../process/free-port.ts';
import { isReady } from '../process/leftover-server.ts';
import {
  type Launcher,
  runProgram,
  type ServerUser,
  startProgram,
} from '../process/server-user.ts';
import type { Binaries } from './binaries.ts';
import type { ClusterFiles, ClusterKind } from './cluster.ts';

/** Long, because a server that was killed first replays its log. */
const startTimeoutMs = 120_000;
const stopTimeoutMs = 30_000;
const portAttempts = 5;
/** Where the search for a port begins, so that a developer finds the same one every day. */
const keptPort = 15_432;

export interface ServerProcess {
  port: number;
  /** Of the postmaster, the parent of all its processes. */
  pid: number;
  /** `fast` ends sessions and writes everything; `immediate` gives the data up. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
}

interface Launch {
  files: ClusterFiles;
  kind: ClusterKind;
  binaries: Binaries;
  launcher: Launcher;
  user: ServerUser | undefined;
  port: number | undefined;
  log: (line: string) => void;
}

/** Resolves when the server takes connections; throws with the end of its log. */
export async function launchServer(launch: Launch): Promise<ServerProcess> {
  let from = launch.kind === 'kept' ? keptPort : 16_000 + Math.floor(Math.random() * 8_000);
  for (let attempt = 1; ; attempt += 1) {
    const port = launch.port ?? (await findFreePort(from));
    const child = await spawnServer(launch, port);
    try {
      await waitUntilReady(child, launch.files);
      return watch(child, launch, port);
    } catch (error) {
      // Another process took the port between our look and the server's.
      const taken = error instanceof Error && error.message.includes('Address already in use');
      if (!taken || launch.port !== undefined || attempt === portAttempts) throw error;
      from = port + 1;
    }
  }
}

async function spawnServer(launch: Launch, port: number): Promise<ChildProcess> {
  const { files, binaries, launcher, user, kind } = launch;
  const settings = [...serverSettings(kind), `port=${port}`].flatMap((setting) => ['-c', setting]);
  // A file, not a pipe: the server may outlive us, and must not block or die by its own log.
  const logFile = await open(files.logFile, 'w', 0o600);
  try {
    if (user !== undefined) await logFile.chown(user.uid, user.gid);
    return startProgram(launcher, binaries.postgres, ['-D', files.cluster, ...settings], {
      cwd: files.dataDir,
      stdio: ['ignore', logFile.fd, logFile.fd],
    });
  } finally {
    await logFile.close();
  }
}

function serverSettings(kind: ClusterKind): string[] {
  const common = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
    // Failed statements are the application's to report; this log has no rotation.
    'log_min_messages=log',
    'log_checkpoints=off',
  ];
  if (kind === 'kept')
    return [
      ...common,
      'max_connections=100',
      'shared_buffers=64MB',
      // Who commits waits while a new segment of the log is filled with zeros.
      'wal_init_zero=off',
      // Pages that calls write go to the disk soon, not all of them when a checkpoint waits for the disk, as commits
      // do then (docs/decisions/0022).
      'backend_flush_after=256kB',
    ];
  return [
    ...common,
    // Two tests at a time, each of which may hold a whole platform or two.
    'max_connections=800',
    'shared_buffers=32MB',
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'io_method=sync',
  ];
}

async function waitUntilReady(child: ChildProcess, files: ClusterFiles): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (failure === undefined && isRunning(child) && Date.now() < deadline) {
    if (child.pid !== undefined && (await isReady(files.cluster, child.pid))) return;
    await sleep(10);
  }
  child.kill('SIGQUIT');
  const logged = (await readFile(files.logFile, 'utf8')).slice(-2_000);
  throw new Error(`PostgreSQL did not start:\n${logged}`, { cause: failure });
}

function watch(child: ChildProcess, launch: Launch, port: number): ServerProcess {
  let stopping = false;
  child.unref();
  child.once('exit', (code, signal) => {
    if (!stopping) {
      launch.log(`PostgreSQL ended by itself (${signal ?? code}); see ${launch.files.logFile}`);
    }
  });
  return {
    port,
    pid: child.pid ?? 0,
    stop: async (mode) => {
      stopping = true;
      if (!isRunning(child)) return;
      child.ref();
      const exited = new Promise((resolve) => child.once('exit', resolve));
      await requestStop(child, launch, mode);
      const timeout = new AbortController();
      const lateStop = sleep(stopTimeoutMs, undefined, timeout).then(() => child.kill('SIGQUIT'));
      await Promise.race([exited, lateStop.catch(() => undefined)]);
      timeout.abort();
      await exited;
    },
  };
}

/** Windows has no signals; there pg_ctl reaches the server by its own means. */
async function requestStop(child: ChildProcess, launch: Launch, mode: 'fast' | 'immediate') {
  if (process.platform === 'win32') {
    const { launcher, binaries, files } = launch;
    const args = ['stop', '-D', files.cluster, '-m', mode];
    await runProgram(launcher, binaries.pgCtl, args, files.dataDir);
    return;
  }
  child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
