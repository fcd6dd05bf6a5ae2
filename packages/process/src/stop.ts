import type { Logger } from '@backlot/telemetry';

/** Runs `stop` at the first SIGTERM or SIGINT; a further one changes nothing. */
export const stopOnSignal = (stop: () => Promise<unknown>, log: Logger): void => {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    stop().then(
      () => log.info('stopped'),
      (err: unknown) => {
        log.error({ err }, 'could not stop in order');
        process.exitCode = 1;
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
};
