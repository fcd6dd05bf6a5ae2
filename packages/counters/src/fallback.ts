import { type Counters, CountersUnavailable, type RateCheck } from './counters.ts';
import type { ReservationRequest } from './credits/credits.ts';

export interface FallbackOptions {
  shared: Counters;
  /** Answers while the shared counters cannot: each process then holds the whole limit by itself. */
  local: Counters;
  /** Milliseconds, from any start. */
  now: () => number;
  /** How long after a failure the shared counters are not tried. Default 1,000. */
  pauseMs?: number;
  /** Called when the state changes; with the cause when it got worse. */
  onChange?: (degraded: boolean, cause?: unknown) => void;
}

export interface FallbackCounters extends Counters {
  /** True while the local counters answer. */
  degraded(): boolean;
  /** True while the shared ones refuse the user of this process or the password. */
  refused(): boolean;
}

/**
 * After a failure one call in `pauseMs` tries the shared counters, the others do not wait for them;
 * its success ends the outage. Where no call comes, an empty one is made.
 */
export const createFallbackCounters = (options: FallbackOptions): FallbackCounters => {
  const { shared, local, now, pauseMs = 1000, onChange = () => undefined } = options;
  let degraded = false;
  let isRefused = false;
  let trying = false;
  let nextTry = 0;
  let probe: NodeJS.Timeout | undefined;

  const change = (next: boolean, cause?: unknown) => {
    if (next === degraded) return;
    degraded = next;
    clearInterval(probe);
    if (degraded) probe = setInterval(() => void admit([]).catch(() => {}), pauseMs).unref();
    onChange(next, cause);
  };

  const { admit: _admit, close: _close, ...credits } = shared;
  /** Credits are never guessed: a priced call waits for the shared counters. */
  const locally = async (checks: readonly RateCheck[], reservation?: ReservationRequest) => {
    const admission = await local.admit(checks);
    return reservation && admission.allowed
      ? { ...admission, reservation: { kind: 'unavailable' as const, isRefused } }
      : admission;
  };

  const admit: Counters['admit'] = async (checks, reservation) => {
    if (degraded && (trying || now() < nextTry)) return locally(checks, reservation);
    const isTrial = degraded;
    if (isTrial) trying = true;
    try {
      const admission = await shared.admit(checks, reservation);
      // A call that was under way when the outage began says nothing about its end.
      if (isTrial) {
        isRefused = false;
        change(false);
      }
      return admission;
    } catch (error) {
      if (!(error instanceof CountersUnavailable)) throw error;
      nextTry = now() + pauseMs;
      isRefused = error.isRefused;
      change(true, error);
      return locally(checks, reservation);
    } finally {
      if (isTrial) trying = false;
    }
  };

  return {
    ...credits,
    admit,
    knownRefusal: (checks) => (degraded ? local : shared).knownRefusal(checks),
    degraded: () => degraded,
    refused: () => isRefused,
    async close() {
      clearInterval(probe);
      await Promise.all([shared.close(), local.close()]);
    },
  };
};
