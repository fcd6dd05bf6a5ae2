import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Program } from './programs.ts';

export interface Supervised {
  /** Ends the process in order; its calls are cut after 10 s or when `cut` is aborted, by force after 15 s. */
  stop(cut?: AbortSignal): Promise<void>;
}

export interface SupervisorOptions {
  /** Takes each line that a process writes. */
  onLine: (program: string, line: string) => void;
}

const drainMs = 10_000;
const stopMs = 15_000;
/** A process that lives for less is started again later and later. */
const steadyMs = 10_000;
const firstDelayMs = 200;
const maxDelayMs = 5000;

/**
 * Keeps a process running: one that dies is started again, at once the first time. It stands in a
 * process group of its own, so that a Ctrl-C in the terminal reaches the supervisor alone.
 */
export const supervise = (program: Program, { onLine }: SupervisorOptions): Supervised => {
  let child: ChildProcess | undefined;
  let stopping = false;
  let delayMs = firstDelayMs;
  let timer: NodeJS.Timeout | undefined;

  const start = () => {
    const startedAt = performance.now();
    const process_ = spawn(process.execPath, [program.entry], {
      detached: true,
      env: { ...process.env, ...program.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = process_;
    for (const stream of [process_.stdout, process_.stderr]) {
      createInterface({ input: stream }).on('line', (line) => onLine(program.name, line));
    }
    process_.once('exit', (code, signal) => {
      child = undefined;
      if (stopping) return;
      if (performance.now() - startedAt > steadyMs) delayMs = firstDelayMs;
      onLine(program.name, `ended (${signal ?? code}); starts again in ${delayMs} ms`);
      timer = setTimeout(start, delayMs);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    });
  };
  start();

  return {
    async stop(cut) {
      stopping = true;
      clearTimeout(timer);
      if (!child) return;
      const gone = once(child, 'exit');
      // A second signal ends the wait for calls.
      const cutCalls = () => void child?.kill('SIGTERM');
      const force = setTimeout(() => child?.kill('SIGKILL'), stopMs);
      const deadline = setTimeout(cutCalls, drainMs);
      cutCalls();
      if (cut?.aborted) cutCalls();
      cut?.addEventListener('abort', cutCalls, { once: true });
      await gone;
      clearTimeout(force);
      clearTimeout(deadline);
      cut?.removeEventListener('abort', cutCalls);
    },
  };
};
