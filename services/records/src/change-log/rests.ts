import { setImmediate as nextRound } from 'node:timers/promises';

/** For so long entries are judged at a stretch, on the thread that all calls share. */
const stretchMs = 5;

/** To be awaited between two entries. */
export const createRests = (): (() => Promise<void>) => {
  let ends = performance.now() + stretchMs;
  return async () => {
    if (performance.now() < ends) return;
    await nextRound();
    ends = performance.now() + stretchMs;
  };
};
