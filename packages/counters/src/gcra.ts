import type { Admission, RateCheck, RateState } from './counters.ts';

/** What a call takes of a counter; no more than the limit can ever leave it. */
export const toWeight = ({ limit, keepFree = 0, calls = 1 }: RateCheck): number =>
  Math.max(1, Math.min(calls, limit - keepFree));

export const toRateState = (check: RateCheck, arrival: number, at: number): RateState => {
  const { limit, windowMs, keepFree = 0 } = check;
  const backlogMs = Math.max(0, arrival - at);
  // The tolerance keeps sums of fractions of a millisecond from costing a call.
  const free = limit === 0 ? 0 : Math.floor((windowMs - backlogMs) / (windowMs / limit) + 1e-6);
  return { limit, remaining: Math.max(0, free - keepFree), resetMs: Math.ceil(backlogMs) };
};

/** 0 where the call passes. */
const toWaitMs = (check: RateCheck, { remaining }: RateState, arrival: number, at: number) => {
  if (remaining >= toWeight(check)) return 0;
  const { limit, windowMs, keepFree = 0 } = check;
  if (limit === 0) return windowMs;
  const needed = (windowMs / limit) * (toWeight(check) + keepFree);
  return Math.max(1, Math.ceil(Math.max(at, arrival) + needed - windowMs - at));
};

/**
 * Judges a call, and counts nothing.
 * @param arrivals theoretical arrival time of the next call at each check's counter: GCRA's only state
 * @param at of the same clock, milliseconds
 */
export const judge = (
  checks: readonly RateCheck[],
  arrivals: readonly number[],
  at: number,
): Admission => {
  let retryAfterMs = 0;
  const states = checks.map((check, index) => {
    const arrival = arrivals[index] ?? 0;
    const state = toRateState(check, arrival, at);
    retryAfterMs = Math.max(retryAfterMs, toWaitMs(check, state, arrival, at));
    return state;
  });
  return { allowed: retryAfterMs === 0, retryAfterMs, states };
};
