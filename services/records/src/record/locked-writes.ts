import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';

/** Work that waits for a lock gives its connection and its slot back, and runs again when it is its turn. */
export const retryLocked = (database: Database, shares: FairShares): FairShares => ({
  ...shares,
  run: (flow, work, caller) =>
    shares.run(flow, (yieldSlot) => database.retryLocked(() => work(yieldSlot), yieldSlot), caller),
});
