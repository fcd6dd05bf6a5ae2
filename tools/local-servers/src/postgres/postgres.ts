import { execFile } from 'node:child_process';
import { chown, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { stopLeftoverServer } from '../process/leftover-server.ts';
import { tryLock } from '../process/lock.ts';
import { chooseLauncher, chooseServerUser } from '../process/server-user.ts';
import { findBinaries } from './binaries.ts';
import {
  type ClusterKind,
  checkFolder,
  createCluster,
  openFolder,
  readKind,
  readPassword,
  superuser,
} from './cluster.ts';
import { launchServer, type ServerProcess } from './server-process.ts';

const execute = promisify(execFile);

export interface PostgresOptions {
  /** Holds the data, the password and the log. Created where needed; one server at a time. */
  dataDir: string;
  /** Without it, a free port below the ephemeral range is chosen. */
  port?: number;
  /** For tests: fast, not durable, and the folder is removed by `stop()`. */
  throwaway?: boolean;
  /** Takes a line now and then; nothing is printed without it. */
  log?: (line: string) => void;
}

export interface RunningPostgres {
  /** Superuser access to the database `postgres`, password included. */
  url: string;
  port: number;
  /** Every process of the server stands still, its connections stay; not on Windows. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends the server in good order. May be called more than once. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1, in a session of its own: a Ctrl-C in the terminal does not
 * reach it, `stop()` ends it. A server that a killed process left behind is stopped first. Throws
 * when another living process holds the folder, or with what to do when PostgreSQL cannot run.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const files = await openFolder(options.dataDir);
  const folder = await tryLock(files.dataDir);
  if (folder === undefined)
    throw new Error(`${files.dataDir} is in use by another running process.`);
  try {
    const log = options.log ?? (() => undefined);
    const kind: ClusterKind = options.throwaway ? 'throwaway' : 'kept';
    const user = await chooseServerUser(files.dataDir);
    await checkFolder(files, kind);
    await stopLeftoverServer(files.cluster, log);
    if (kind === 'throwaway') await rm(files.cluster, { recursive: true, force: true });

    const binaries = await findBinaries();
    if (user !== undefined) await chown(files.dataDir, user.uid, user.gid);
    const launcher = await chooseLauncher(user, binaries.postgres, files.dataDir);
    await createCluster(files, kind, binaries, launcher, user);

    const { port } = options;
    const server = await launchServer({ files, kind, binaries, launcher, user, port, log });
    const password = await readPassword(files);
    let stopped: Promise<void> | undefined;
    return {
      url: `postgres://${superuser}:${password}@127.0.0.1:${server.port}/postgres`,
      port: server.port,
      freeze: () => signalTree(server.pid, 'SIGSTOP'),
      thaw: () => signalTree(server.pid, 'SIGCONT'),
      stop: () => {
        stopped ??= stop(server, kind, files.dataDir).finally(() => folder.release());
        return stopped;
      },
    };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

/** Children are in sessions of their own, which a signal to the group does not reach. */
async function signalTree(parent: number, signal: NodeJS.Signals): Promise<void> {
  // Parent first: stopped, it makes no further ones.
  process.kill(parent, signal);
  const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=']);
  for (const line of stdout.split('\n')) {
    const [pid, parentPid] = line.trim().split(/\s+/).map(Number);
    if (pid !== undefined && parentPid === parent) signalIfAlive(pid, signal);
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Sessions come and go.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Ends and removes a throwaway server whose process was killed. Returns false, and does nothing,
 * when a living process holds the folder or it holds anything but throwaway data.
 */
export async function removeThrowaway(dataDir: string): Promise<boolean> {
  const files = await openFolder(dataDir);
  if ((await readKind(files)) !== 'throwaway') return false;
  const folder = await tryLock(files.dataDir);
  if (folder === undefined) return false;
  try {
    await stopLeftoverServer(files.cluster, () => undefined);
    await rm(files.dataDir, { recursive: true, force: true });
    return true;
  } finally {
    await folder.release();
  }
}

async function stop(server: ServerProcess, kind: ClusterKind, dataDir: string): Promise<void> {
  await server.stop(kind === 'throwaway' ? 'immediate' : 'fast');
  if (kind === 'throwaway') await rm(dataDir, { recursive: true, force: true });
}
