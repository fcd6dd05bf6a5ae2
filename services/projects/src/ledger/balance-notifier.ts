import { setTimeout as pause } from 'node:timers/promises';
import type { CreditCounters, HeldCredits } from '@backlot/counters';
import type { Logger } from '@backlot/telemetry';
import type { LedgerMetrics } from './ledger-metrics.ts';

/** What the ledger needs of the counters; by their names. */
export type LedgerCounters = Pick<CreditCounters, 'load' | 'book' | 'reserved' | 'held'>;

/** An owner's balance; `seq` is newer with every booking. */
export interface OwnerCredits {
  balanceMillicredits: number;
  seq: number;
  /** Used this month and still there. */
  monthMillicredits: number;
}

/** An owner's balance after these calls were booked. */
export interface BookedCalls extends OwnerCredits {
  ownerId: string;
  /** Those booked before included. */
  calls: readonly HeldCredits[];
}

export interface BalanceNotifierDeps {
  counters: LedgerCounters;
  metrics: LedgerMetrics;
  log: Logger;
  /** Before the first retry; doubled for the next. 100 unless stated. */
  retryDelayMs?: number;
}

const tries = 5;
const maxFailed = 10_000;

export type BalanceNotifier = ReturnType<typeof createBalanceNotifier>;

/** Notifies the counters of committed balances. A booking stands whether that succeeds or not. */
export const createBalanceNotifier = ({
  counters,
  metrics,
  log,
  retryDelayMs = 100,
}: BalanceNotifierDeps) => {
  const failed = new Set<string>();

  return {
    /** Never rejects: what fails is left to `retryFailed`. */
    async notify({
      ownerId,
      balanceMillicredits,
      seq,
      calls,
      ...details
    }: BookedCalls): Promise<void> {
      for (let tried = 1; ; tried++) {
        try {
          await counters.book(ownerId, balanceMillicredits, seq, calls, details);
          return;
        } catch (error) {
          if (tried < tries) {
            await pause(retryDelayMs * 2 ** (tried - 1));
            continue;
          }
          if (failed.size < maxFailed) failed.add(ownerId);
          metrics.notificationFailed();
          log.warn(
            { err: error, ownerId },
            'credit counters not notified of a booking; retrying later',
          );
          return;
        }
      }
    },

    /** Loads the balances whose notification failed; rejects while the counters are unavailable. */
    async retryFailed(ownerCredits: (ownerId: string) => Promise<OwnerCredits>): Promise<void> {
      for (const ownerId of failed) {
        const { balanceMillicredits, seq, ...details } = await ownerCredits(ownerId);
        await counters.load(ownerId, balanceMillicredits, seq, details);
        failed.delete(ownerId);
      }
    },
  };
};
