import type { Logger } from '@backlot/telemetry';

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
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
};
