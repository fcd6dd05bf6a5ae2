import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endRecordedServer, recordServer } from './recorded-server.ts';
import type { ServerFolder } from './server-folder.ts';

const run = promisify(execFile);
const startTimeoutMs = 120_000;
const stopTimeoutMs = 30_000;

/** How to start one server, again and again. */
export interface ServerCommand {
  name: string;
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Part of the command line of the running server. */
  marker: string;
  /** Set where `file` is Docker's client and this container the server. */
  container?: string;
  /** True once the server answers. */
  ready: () => Promise<boolean>;
}

export type KillSignal = 'SIGKILL' | 'SIGTERM';

export interface OwnServer {
  /** Ends the server as a crash (SIGKILL, the default) or in good order; resolves when it is gone. */
  kill(signal?: KillSignal): Promise<void>;
  /** Starts it again, on the same port and data; ends it first where it runs. */
  restart(): Promise<void>;
  /** Ends it for good; throwaway data is removed. May be called more than once. */
  stop(): Promise<void>;
}

/**
 * Runs the command in a session and process group of its own: Ctrl-C in the terminal does not reach
 * it. Resolves when the server answers; throws with the end of its log.
 */
export async function startOwnServer(
  command: ServerCommand,
  folder: ServerFolder,
): Promise<OwnServer> {
  let child = await launch(command, folder.dataDir);
  let stopped: Promise<void> | undefined;
  const kill = (signal: KillSignal = 'SIGKILL') => end(child, command, signal);
  return {
    kill,
    async restart() {
      if (stopped !== undefined) throw new Error(`${command.name} was stopped for good.`);
      await kill('SIGTERM');
      child = await launch(command, folder.dataDir);
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };

  async function stop(): Promise<void> {
    try {
      await kill(folder.throwaway ? 'SIGKILL' : 'SIGTERM');
      if (folder.throwaway) await endRecordedServer(folder.dataDir, true);
    } finally {
      await folder.release();
    }
  }
}

async function launch(command: ServerCommand, dataDir: string): Promise<ChildProcess> {
  const logPath = join(dataDir, 'server.log');
  // A file, not a pipe: the server may outlive us, and must not block or die by its own log.
  const log = await open(logPath, 'w', 0o600);
  const child = spawn(command.file, command.args, {
    cwd: dataDir,
    env: command.env,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  child.unref();
  await log.close();
  if (child.pid !== undefined) {
    const { marker, container } = command;
    await recordServer(dataDir, { pid: child.pid, marker, ...(container ? { container } : {}) });
  }
  const deadline = Date.now() + startTimeoutMs;
  while (failure === undefined && isRunning(child) && Date.now() < deadline) {
    if (await command.ready()) return child;
    await sleep(20);
  }
  if (failure === undefined) await end(child, command, 'SIGKILL');
  const logged = (await readFile(logPath, 'utf8')).slice(-2_000);
  throw new Error(`${command.name} did not start:\n${logged}`, { cause: failure });
}

async function end(child: ChildProcess, command: ServerCommand, signal: KillSignal) {
  if (isRunning(child)) {
    child.ref();
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await send(child, command, signal);
    const late = setTimeout(() => void send(child, command, 'SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(late);
  }
  // Its companions (RabbitMQ's epmd) are in the group and need not end by themselves.
  signalGroup(child, 'SIGKILL');
}

async function send(child: ChildProcess, { file, container }: ServerCommand, signal: KillSignal) {
  if (container === undefined) signalGroup(child, signal);
  else await run(file, ['kill', `--signal=${signal}`, container]).catch(() => undefined);
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
