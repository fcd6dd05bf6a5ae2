import { AsyncResource } from 'node:async_hooks';

const waiting: (() => void)[] = [];

/**
 * Runs `work`, in its caller's context, once all that has come in this turn of the event loop was looked at: in the
 * order of the calls, those that are made meanwhile included.
 */
export const atTurnsEnd = (work: () => void): void => {
  if (waiting.push(AsyncResource.bind(work)) > 1) return;
  setImmediate(() => {
    for (const each of waiting) each();
    waiting.length = 0;
  });
};
