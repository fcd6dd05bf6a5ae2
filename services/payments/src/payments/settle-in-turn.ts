import type { Database } from '@backlot/database';
import { connections, type FairShares } from '@backlot/fair-shares';
import type { PaymentRow } from './payment-row.ts';

/** Of the connections for writes: payments of other projects, and all other calls, find one. */
const places = 6;

type Requester = Parameters<FairShares['run']>[0];

/** Whose turn it is where nobody calls. */
export const sweepRequester = (row: Pick<PaymentRow, 'project_id'>): Requester => [
  `project ${row.project_id}`,
  row.project_id,
  'sweep',
];

export type SettleInTurn = ReturnType<typeof createSettleInTurn>;

/**
 * What money brings about locks the products that were sold. Payments of a project come one after the other: they wait
 * here, without a connection, and not for each other's locks, each with one.
 */
export const createSettleInTurn = (database: Database) => {
  const shares = connections({ places, perOwner: places, perProject: 1 });
  return {
    usage: shares.usage,
    /** In one transaction, which may be tried again. @throws FairShareFull */
    run: <T>(requester: Requester, work: () => Promise<T>): Promise<T> =>
      shares.run(requester, (yieldSlot) =>
        database.retryLocked(() => database.transaction(work), yieldSlot),
      ),
  };
};
