import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { until } from '@backlot/testing';

/** What can be killed and comes back. */
export interface Victim {
  /** As a crash, with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** On the same port; resolves when it answers. */
  restart(): Promise<void>;
}

export interface OsProcess extends Victim {
  url: string;
  stop(): Promise<void>;
}

export interface Program {
  entry: URL;
  port: number;
  env: Record<string, string>;
  logFile: string;
}

/**
 * Ends the process when the test that started it is gone, however that ended. One that is killed
 * would not keep what it compiled for the next.
 */
const preload = `data:text/javascript,${encodeURIComponent(
  `import { flushCompileCache } from 'node:module';
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  setTimeout(flushCompileCache, 3000).unref();`,
)}`;

/** A gateway or service in a process of its own; resolves when it answers. */
export const startProcess = async ({ entry, port, env, logFile }: Program): Promise<OsProcess> => {
  const url = `http://127.0.0.1:${port}`;
  const isUp = () => fetch(`${url}/healthz`).then(({ ok }) => ok);
  const { PATH, NODE_COMPILE_CACHE } = process.env;

  const launch = async (): Promise<ChildProcess> => {
    const log = await open(logFile, 'a');
    const child = spawn(process.execPath, ['--import', preload, entry.pathname], {
      env: { ...env, PORT: String(port), PATH, NODE_COMPILE_CACHE },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    });
    child.once('exit', (code, signal) => {
      const line = `${new Date().toISOString()} ended: ${signal ?? code}\n`;
      void log.appendFile(line).finally(() => log.close());
    });
    const ended = once(child, 'exit').then(() => 'ended' as const);
    const up = until(isUp, { timeoutMs: 120_000, what: entry.pathname });
    if ((await Promise.race([ended, up])) === 'ended') {
      up.catch(() => {});
      throw new Error(
        `${entry.pathname} ended:\n${(await readFile(logFile, 'utf8')).slice(-2000)}`,
      );
    }
    return child;
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };

  let child = await launch();
  return {
    url,
    kill: () => end('SIGKILL'),
    async restart() {
      child = await launch();
    },
    stop: () => end('SIGKILL'),
  };
};
