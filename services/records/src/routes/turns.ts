import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { RouteOptions } from '@backlot/http';

/** Each owner's reads wait for a connection behind each other, not before those of others. */
export const inTurn = (reads: FairShares): RouteOptions => ({
  inTurn: (caller, work) => reads.run(toRequester(caller.identity), work, caller),
});

type RetryLocked = (work: () => Promise<void>, pause: () => Promise<void>) => Promise<void>;

/** The same of writes. One that waits for a lock gives its connection and its turn back, and runs again in the next. */
export const createWriteTurns = (writes: FairShares, retryLocked: RetryLocked): RouteOptions => ({
  retriedWhileLocked: true,
  inTurn: (caller, work) =>
    writes.run(toRequester(caller.identity), (yieldSlot) => retryLocked(work, yieldSlot), caller),
});
