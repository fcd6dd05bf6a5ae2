import { onStarterGone } from './starter.ts';

const requiredMajor = 26;

interface Running {
  /** Does not wait for calls under way once `cut` is aborted. */
  stop(cut: AbortSignal): Promise<void>;
}

/**
 * Runs a command of this package until Ctrl-C, which may come while it starts, or until whoever started it as a
 * script is gone: `start` prints what the person at the terminal needs.
 * A failure is one sentence and exit code 1.
 */
export const runCommand = (start: () => Promise<Running>): void => {
  const run = async () => {
    const major = Number(process.versions.node.split('.')[0]);
    if (major < requiredMajor)
      throw new Error(`Node ${requiredMajor} or newer is needed; this is ${process.version}.`);
    const starting = start();
    const further = new AbortController();
    let stopping = false;
    const stop = () => {
      if (stopping) return further.abort();
      stopping = true;
      console.log('Stopping … (Ctrl-C again ends calls that are under way)');
      // Also while it starts: processes that it has started would live on.
      starting.then(
        (running) => running.stop(further.signal).then(() => console.log('Stopped.'), fail),
        () => undefined,
      );
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    onStarterGone(stop);
    await starting;
  };
  const fail = (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  };
  run().catch(fail);
};
