import { ApiError } from '@backlot/contract';
import { type FairShares, toRequester, WaitedTooLong } from '@backlot/fair-shares';
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

/** What is left of the gateway's 30 seconds once an import has had its own. */
const importWaitMs = 5000;

/** Of calls that each last for seconds: who waits for longer is told to come again. */
export const createImportTurns = (imports: FairShares): RouteOptions => ({
  inTurn: ({ identity, signal }, work) =>
    imports
      .run(toRequester(identity), work, { signal, maxWaitMs: importWaitMs })
      .catch((error: unknown) => {
        if (!(error instanceof WaitedTooLong)) throw error;
        throw new ApiError('overloaded', 'Too many imports at once. Try again shortly.', {
          cause: error,
          retryAfterSeconds: 5,
        });
      }),
});
