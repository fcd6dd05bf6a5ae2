import { spawn } from 'node:child_process';

export interface Program {
  pid: number;
  ended: Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Of the process of `pnpm dev`. */
export const devSettings = { NODE_OPTIONS: '--max-semi-space-size=16' };

/** @param file of the program */
export const startProgram = (
  file: string,
  args: string[],
  env: Record<string, string>,
): Program => {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid ?? 0,
    ended: exited,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await exited;
    },
  };
};

/** Long, because a start takes what else the machine does. */
const patienceMs = 300_000;

/** Answers after how many milliseconds it was. */
export const reachable = async (url: string, expected: number) => {
  const startedAt = performance.now();
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === expected) return performance.now() - startedAt;
    if (performance.now() - startedAt > patienceMs)
      throw new Error(`${url} did not answer ${expected}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
