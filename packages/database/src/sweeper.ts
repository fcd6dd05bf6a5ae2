export interface Sweeper {
  start(): void;
  /** Resolves when a sweep under way has ended. */
  stop(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/** Runs `sweep` at start and every hour (or `everyMs`), never twice at once. */
export const createSweeper = (
  sweep: () => Promise<unknown>,
  onError: (error: unknown) => void,
  everyMs = hourMs,
): Sweeper => {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<unknown> | undefined;
  const run = () => {
    underWay ??= sweep()
      .catch(onError)
      .finally(() => {
        underWay = undefined;
      });
  };
  return {
    start() {
      timer = setInterval(run, everyMs);
      run();
    },
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
};
