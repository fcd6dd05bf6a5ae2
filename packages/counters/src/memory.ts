import { LRUCache } from 'lru-cache';
import type { Counters, RateCheck } from './counters.ts';
import { createMemoryCredits } from './credits/memory.ts';
import { judge, toRateState, toWeight } from './gcra.ts';

/** Counters of 100,000 callers; the longest unused one is forgotten first. About 15 MB when full. */
const maxKeys = 100_000;

/** Exact for one process. @param now epoch milliseconds. */
export const createMemoryCounters = (now: () => number): Counters => {
  /** Theoretical arrival time of the next call, per key: GCRA's only state. */
  const arrivals = new LRUCache<string, number>({ maxSize: maxKeys, sizeCalculation: () => 1 });

  const { reserve, ...credits } = createMemoryCredits(now);

  const readArrivals = (checks: readonly RateCheck[]) =>
    checks.map(({ key }) => arrivals.get(key) ?? 0);

  return {
    ...credits,
    knownRefusal(checks) {
      const verdict = judge(checks, readArrivals(checks), now());
      return verdict.allowed ? undefined : verdict;
    },
    async admit(checks, request) {
      const at = now();
      const before = readArrivals(checks);
      const verdict = judge(checks, before, at);
      const reservation = verdict.allowed && request ? reserve(request) : undefined;
      const isCounted = verdict.allowed && reservation?.kind !== 'unloaded';
      if (!isCounted) return { ...verdict, ...(reservation && { reservation }) };
      const states = checks.map((check, index) => {
        const taken = (toWeight(check) * check.windowMs) / check.limit;
        const arrival = Math.max(at, before[index] ?? 0) + taken;
        arrivals.set(check.key, arrival);
        return toRateState(check, arrival, at);
      });
      return { ...verdict, states, ...(reservation && { reservation }) };
    },
    async close() {
      arrivals.clear();
    },
  };
};
