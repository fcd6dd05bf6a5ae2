const waiting: (() => void)[] = [];

/**
 * Runs `work` once all that has come in this turn of the event loop was looked at: in the order of the calls, those
 * that are made meanwhile included, and in the context of the first one. Reads that `work` sends leave with those of
 * the turn.
 */
export const atTurnsEnd = (work: () => void): void => {
  if (waiting.push(work) > 1) return;
  setImmediate(() => {
    for (const each of waiting) each();
    waiting.length = 0;
  });
};
