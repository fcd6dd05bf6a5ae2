import type { RateCounters } from './counters.ts';
import { CountersUnavailable } from './redis.ts';

export interface FallbackOptions {
  shared: RateCounters;
  /** Answers while the shared counters cannot: each process then holds the whole limit by itself. */
  local: RateCounters;
  /** Milliseconds, from any start. */
  now: () => number;
  /** How long the shared counters are left alone after a failure. Default 1,000. */
  pauseMs?: number;
  /** Told when the state changes; the cause is set when it got worse. */
  onChange?: (degraded: boolean, cause?: unknown) => void;
}

export interface FallbackCounters extends RateCounters {
  /** True while the local counters answer. */
  degraded(): boolean;
}

/**
 * After a failure one call in `pauseMs` tries the shared counters, the others do not wait for them;
 * its success ends the outage.
 */
export const createFallbackCounters = (options: FallbackOptions): FallbackCounters => {
  const { shared, local, now, pauseMs = 1000, onChange = () => undefined } = options;
  let degraded = false;
  let trying = false;
  let nextTry = 0;

  const change = (next: boolean, cause?: unknown) => {
    if (next === degraded) return;
    degraded = next;
    onChange(next, cause);
  };

  return {
    async admit(checks) {
      if (degraded && (trying || now() < nextTry)) return local.admit(checks);
      const isTrial = degraded;
      if (isTrial) trying = true;
      try {
        const admission = await shared.admit(checks);
        // A call that was under way when the outage began says nothing about its end.
        if (isTrial) change(false);
        return admission;
      } catch (error) {
        if (!(error instanceof CountersUnavailable)) throw error;
        nextTry = now() + pauseMs;
        change(true, error);
        return local.admit(checks);
      } finally {
        if (isTrial) trying = false;
      }
    },
    degraded: () => degraded,
    async close() {
      await Promise.all([shared.close(), local.close()]);
    },
  };
};
