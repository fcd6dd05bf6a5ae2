import { LRUCache } from 'lru-cache';
import type { Counters } from './counters.ts';
import { judge } from './gcra.ts';

const maxCounters = 40_000;

/**
 * Answers calls that are certain to be refused without asking the shared counters: a counter never
 * becomes free earlier than it said, and a refused call uses nothing up. So a flood past a
 * limit costs Redis one call for each that is free again.
 * @param now milliseconds, from any start
 */
export const withRefusalCache = (shared: Counters, now: () => number): Counters => {
  /** By counter that refused a call: when it is all free again, at the earliest. */
  const arrivals = new LRUCache<string, number>({ maxSize: maxCounters, sizeCalculation: () => 1 });

  const knownRefusal: Counters['knownRefusal'] = (checks) => {
    const known = checks.flatMap(({ key }) => arrivals.get(key) ?? []);
    if (known.length < checks.length) return undefined;
    const at = now();
    // What the counters said was rounded up to a whole millisecond.
    return judge(checks, known, at + 1).allowed ? undefined : judge(checks, known, at);
  };

  return {
    ...shared,
    knownRefusal,
    async admit(checks, reservation) {
      const refused = knownRefusal(checks);
      if (refused) return refused;
      // Taken before the call, so that its own duration does not count as waiting.
      const at = now();
      const admission = await shared.admit(checks, reservation);
      if (!admission.allowed)
        for (const [index, { key }] of checks.entries())
          arrivals.set(key, at + (admission.states[index]?.resetMs ?? 0));
      return admission;
    },
  };
};
