import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Command {
  url: string;
  output(): string;
  owner: { email: string; password: string };
  /** Sends a signal to the whole process group, as a terminal would, and waits for the end. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

const ready = /Base URL +(http:\/\/localhost:\d+)[\s\S]*Owner sign-in +(\S+) +(\S+)[\s\S]*Ctrl-C/;
const startMs = 60_000;

/** Runs `pnpm dev` (main) or `pnpm stack` as a process group of its own on a data folder and waits until it is ready. */
export const runCommand = async (
  program: 'main' | 'stack-main',
  dataDir: string,
  port: number,
): Promise<Command> => {
  const main = fileURLToPath(import.meta.resolve(`@backlot/all-in-one/${program}`));
  const child: ChildProcess = spawn(process.execPath, [main], {
    detached: true,
    env: {
      ...process.env,
      PORT: String(port),
      BACKLOT_DATA_DIR: dataDir,
      DATABASE_URL: '',
      REDIS_URL: '',
      AMQP_URL: '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let output = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`not ready after ${startMs} ms:\n${output}`)),
      startMs,
    );
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const match = ready.exec(output);
      if (!match) return;
      clearTimeout(timer);
      resolve(match);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(`ended before it was ready:\n${output}`));
    });
  });
  const [, url = '', email = '', password = ''] = found;
  return {
    url,
    owner: { email, password },
    output: () => output,
    async end(signal) {
      if (child.pid === undefined) throw new Error('The command has no process id.');
      process.kill(-child.pid, signal);
      const [code] = await exited;
      return code;
    },
  };
};
