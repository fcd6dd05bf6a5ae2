import { constants } from 'node:os';
import type { Logger } from '@backlot/telemetry';

const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ends the process at the first signal, while there is nothing to stop yet. Linux hands the first process
 * of a container no signal that it does not listen for: it would last until it is killed.
 * @returns ends that
 */
export const endOnSignal = (): (() => void) => {
  const end = (signal: (typeof signals)[number]) => process.exit(128 + constants.signals[signal]);
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
};

/** What nobody caught ends the process with a line of the log: Node would print all that hangs on the error. */
export const endOnFault = (log: Logger): void => {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'ends after a fault');
    process.exit(1);
  });
};

/** Runs `stop` at the first SIGTERM or SIGINT; a further one aborts `cut`, which ends the wait for calls. */
export const stopOnSignal = (stop: (cut: AbortSignal) => Promise<unknown>, log: Logger): void => {
  const further = new AbortController();
  let stopping = false;
  const onSignal = () => {
    if (stopping) return further.abort();
    stopping = true;
    stop(further.signal).then(
      () => log.info('stopped'),
      (err: unknown) => {
        log.error({ err }, 'could not stop in order');
        process.exitCode = 1;
      },
    );
  };
  for (const signal of signals) process.on(signal, onSignal);
};
