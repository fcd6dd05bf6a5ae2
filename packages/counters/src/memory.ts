import { LRUCache } from 'lru-cache';
import type { Counters, RateCheck, RateState } from './counters.ts';
import { createMemoryCredits } from './credits/memory.ts';

/** Counters of 100,000 callers; the longest unused one is forgotten first. About 15 MB when full. */
const maxKeys = 100_000;

const toWeight = ({ limit, keepFree = 0, calls = 1 }: RateCheck): number =>
  Math.max(1, Math.min(calls, limit - keepFree));

/** Exact for one process. @param now epoch milliseconds. */
export const createMemoryCounters = (now: () => number): Counters => {
  /** Theoretical arrival time of the next call, per key: GCRA's only state. */
  const arrivals = new LRUCache<string, number>({ max: maxKeys });

  const { reserve, ...credits } = createMemoryCredits(now);

  const toRateState = (check: RateCheck, arrival: number, at: number): RateState => {
    const { limit, windowMs, keepFree = 0 } = check;
    const backlogMs = Math.max(0, arrival - at);
    // The tolerance keeps sums of fractions of a millisecond from costing a call.
    const free = limit === 0 ? 0 : Math.floor((windowMs - backlogMs) / (windowMs / limit) + 1e-6);
    return { limit, remaining: Math.max(0, free - keepFree), resetMs: Math.ceil(backlogMs) };
  };

  return {
    ...credits,
    async admit(checks, request) {
      const at = now();
      let retryAfterMs = 0;
      const arrivalTime = (check: RateCheck) => Math.max(at, arrivals.get(check.key) ?? 0);
      for (const check of checks) {
        const state = toRateState(check, arrivalTime(check), at);
        if (state.remaining >= toWeight(check)) continue;
        const interval = check.limit === 0 ? check.windowMs : check.windowMs / check.limit;
        const needed = interval * (toWeight(check) + (check.keepFree ?? 0));
        const wait =
          check.limit === 0 ? check.windowMs : arrivalTime(check) + needed - check.windowMs - at;
        retryAfterMs = Math.max(retryAfterMs, Math.ceil(wait), 1);
      }
      const allowed = retryAfterMs === 0;
      const reservation = allowed && request ? reserve(request) : undefined;
      const counted = allowed && reservation?.kind !== 'unloaded';
      const states = checks.map((check) => {
        const arrival =
          arrivalTime(check) + (counted ? (toWeight(check) * check.windowMs) / check.limit : 0);
        if (counted) arrivals.set(check.key, arrival);
        return toRateState(check, arrival, at);
      });
      return { allowed, retryAfterMs, states, ...(reservation && { reservation }) };
    },
    async close() {
      arrivals.clear();
    },
  };
};
