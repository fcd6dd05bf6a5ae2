import { setTimeout as pause } from 'node:timers/promises';
import type { CreditCounters } from '@backlot/counters';
import type { Logger } from '@backlot/telemetry';
import type { LedgerMetrics } from './ledger-metrics.ts';

/** What the ledger needs of the counters; in the same words as theirs. */
export type LedgerCounters = Pick<CreditCounters, 'load' | 'book' | 'reserved' | 'held'>;

/** An owner's balance; `seq` is newer with every booking. */
export interface OwnerCredits {
  balanceMillicredits: number;
  seq: number;
}

/** What became of a batch of calls of one owner. */
export interface Booked extends OwnerCredits {
  ownerId: string;
  /** Those booked before included. */
  callIds: readonly string[];
}

export interface TellingDeps {
  counters: LedgerCounters;
  metrics: LedgerMetrics;
  log: Logger;
  /** Before the counters are told a second time; doubled each time. 100 without it. */
  retryDelayMs?: number;
}

const tries = 5;
const maxMissed = 10_000;

export type Telling = ReturnType<typeof createTelling>;

/** Tells the counters what the ledger has committed. It stands whether they hear of it or not. */
export const createTelling = ({ counters, metrics, log, retryDelayMs = 100 }: TellingDeps) => {
  const missed = new Set<string>();

  return {
    /** Never rejects: an owner whom the counters were not told of is told of later. */
    async booked({ ownerId, balanceMillicredits, seq, callIds }: Booked): Promise<void> {
      for (let tried = 1; ; tried++) {
        try {
          await counters.book(ownerId, balanceMillicredits, seq, callIds);
          return;
        } catch (error) {
          if (tried < tries) {
            await pause(retryDelayMs * 2 ** (tried - 1));
            continue;
          }
          if (missed.size < maxMissed) missed.add(ownerId);
          metrics.untold();
          log.warn({ err: error, ownerId }, 'the counters were not told of a booking');
          return;
        }
      }
    },

    /** Tells of those who were missed; rejects while the counters stay away. */
    async catchUp(creditsOf: (ownerId: string) => Promise<OwnerCredits>): Promise<void> {
      for (const ownerId of missed) {
        const { balanceMillicredits, seq } = await creditsOf(ownerId);
        await counters.load(ownerId, balanceMillicredits, seq);
        missed.delete(ownerId);
      }
    },
  };
};
