import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';
import {
  type ContainerCommand,
  endContainer,
  type KillSignal,
  startContainer,
} from './container.ts';
import { endRecordedServer, recordServer } from './recorded-server.ts';
import type { ServerFolder } from './server-folder.ts';

const startTimeoutMs = 120_000;
const stopTimeoutMs = 30_000;

/** How to start one server of this machine, again and again. */
export interface ProgramCommand {
  name: string;
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Part of the command line of the running server. */
  marker: string;
  /** True once the server answers. */
  ready: () => Promise<boolean>;
}

export type ServerCommand = ProgramCommand | ContainerCommand;

export interface OwnServer {
  /** Ends the server as a crash (SIGKILL, the default) or in good order; resolves when it is gone. */
  kill(signal?: KillSignal): Promise<void>;
  /** Starts it again, on the same port and data; ends it first where it runs. */
  restart(): Promise<void>;
  /** Ends it for good; throwaway data is removed. May be called more than once. */
  stop(): Promise<void>;
}

/** A server that runs. */
interface Launched {
  end(signal: KillSignal): Promise<void>;
}

/**
 * Runs the command in a session and process group of its own, or in a container: Ctrl-C in the terminal
 * does not reach it. Resolves when the server answers; throws with the end of its log.
 */
export async function startOwnServer(
  command: ServerCommand,
  folder: ServerFolder,
): Promise<OwnServer> {
  const launch = () =>
    'image' in command
      ? launchContainer(command, folder.dataDir)
      : launchProgram(command, folder.dataDir);
  let launched = await launch();
  let stopped: Promise<void> | undefined;
  const kill = (signal: KillSignal = 'SIGKILL') => launched.end(signal);
  return {
    kill,
    async restart() {
      if (stopped !== undefined) throw new Error(`${command.name} was stopped for good.`);
      await kill('SIGTERM');
      launched = await launch();
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

async function launchContainer(command: ContainerCommand, dataDir: string): Promise<Launched> {
  await recordServer(dataDir, { container: command.container });
  let started: StartedTestContainer | undefined = await startContainer(command);
  return {
    async end(signal) {
      const running = started;
      started = undefined;
      if (running) await endContainer(running, signal);
    },
  };
}

async function launchProgram(command: ProgramCommand, dataDir: string): Promise<Launched> {
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
    await recordServer(dataDir, { pid: child.pid, marker: command.marker });
  }
  const deadline = Date.now() + startTimeoutMs;
  while (failure === undefined && isRunning(child) && Date.now() < deadline) {
    if (await command.ready()) return { end: (signal) => end(child, signal) };
    await sleep(20);
  }
  if (failure === undefined) await end(child, 'SIGKILL');
  const logged = (await readFile(logPath, 'utf8')).slice(-2_000);
  throw new Error(`${command.name} did not start:\n${logged}`, { cause: failure });
}

async function end(child: ChildProcess, signal: KillSignal) {
  if (isRunning(child)) {
    child.ref();
    const exited = new Promise((resolve) => child.once('exit', resolve));
    signalGroup(child, signal);
    const late = setTimeout(() => signalGroup(child, 'SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(late);
  }
  // Its companions (RabbitMQ's epmd) are in the group and need not end by themselves.
  signalGroup(child, 'SIGKILL');
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
