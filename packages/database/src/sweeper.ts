export interface Sweeper {
  start(): void;
  /** Resolves when a sweep under way has ended. */
  stop(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/** What a sweep answers that has left work: it runs again at once. */
export const workLeft = Symbol('work left');

/** Runs `sweep` at start and every hour (or `everyMs`), never twice at once. */
export const createSweeper = (
  sweep: () => Promise<unknown>,
  onError: (error: unknown) => void,
  everyMs = hourMs,
): Sweeper => {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<unknown> | undefined;
  const sweepAll = async () => {
    try {
      while ((await sweep()) === workLeft && timer);
    } catch (error) {
      onError(error);
    }
    underWay = undefined;
  };
  const run = () => {
    underWay ??= sweepAll();
  };
  return {
    start() {
      timer = setInterval(run, everyMs);
      run();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await underWay;
    },
  };
};
