import { LRUCache } from 'lru-cache';
import type { Admission, Counters, RateCheck } from './counters.ts';

interface Refusal {
  checks: readonly RateCheck[];
  admission: Admission;
  at: number;
}

const maxRefusals = 20_000;

const isSame = (a: readonly RateCheck[], b: readonly RateCheck[]) =>
  a.length === b.length &&
  a.every((check, index) => {
    const other = b[index];
    return (
      check.key === other?.key &&
      check.limit === other.limit &&
      check.windowMs === other.windowMs &&
      check.keepFree === other.keepFree &&
      check.calls === other.calls
    );
  });

/**
 * Answers calls that are certain to be refused without asking the shared counters: a counter never
 * becomes free earlier than it said, and a refused call uses nothing up. So a flood past a
 * limit costs Redis one call for each free slot.
 * @param now milliseconds, from any start
 */
export const withRefusalCache = (shared: Counters, now: () => number): Counters => {
  const refusals = new LRUCache<string, Refusal>({ max: maxRefusals });

  const findRefusal = (checks: readonly RateCheck[]): Admission | undefined => {
    const refusal = refusals.get(checks[0]?.key ?? '');
    if (!refusal || !isSame(refusal.checks, checks)) return undefined;
    const { admission, at } = refusal;
    const passedMs = now() - at;
    // The wait was rounded up to a whole millisecond.
    const retryAfterMs = admission.retryAfterMs - 1 - passedMs;
    if (retryAfterMs <= 0) return undefined;
    const states = admission.states.map((state) => ({
      ...state,
      resetMs: Math.max(0, state.resetMs - passedMs),
    }));
    return { ...admission, retryAfterMs, states };
  };

  return {
    ...shared,
    async admit(checks, reservation) {
      const refused = findRefusal(checks);
      if (refused) return refused;
      // Taken before the call, so that its own duration does not count as waiting.
      const at = now();
      const admission = await shared.admit(checks, reservation);
      const [first] = checks;
      if (first && !admission.allowed) refusals.set(first.key, { checks, admission, at });
      return admission;
    },
  };
};
