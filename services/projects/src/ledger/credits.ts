/**
 * Owners' credits: the ledger (append-only, double entry), what time does to it, the statement of
 * account, usage reports, and the check that all books agree. PostgreSQL is the truth; the counters
 * hold a working copy for the gateway and are told of every change. Prices are the contract's.
 */
import { ApiError } from '@backlot/contract';
import { createSweeper, type Database, type Outbox } from '@backlot/database';
import type { Page, PageQuery } from '@backlot/http';
import type { Logger, Registry } from '@backlot/telemetry';
import { createAccounts } from './accounts.ts';
import { createLedger } from './ledger.ts';
import { createLedgerMetrics } from './ledger-metrics.ts';
import { createReconciliation } from './reconciliation.ts';
import { createStatement, type StatementItem } from './statement.ts';
import { createTelling, type LedgerCounters } from './telling.ts';
import { createUsageConsumer } from './usage-consumer.ts';

export interface CreditsDeps {
  database: Database;
  outbox: Outbox;
  counters: LedgerCounters;
  registry?: Registry;
  log: Logger;
  now: () => number;
  monthlyCredits: number;
  reconcileSeconds: number;
}

export interface OwnerStatement extends Page<StatementItem> {
  balanceMillicredits: number;
  /** Held by the counters for calls under way or not booked yet. */
  reservedMillicredits: number;
}

/** Every booking looks at the clock itself: this is for owners who are idle. */
const keepUpMs = 60_000;

export type Credits = ReturnType<typeof createCredits>;

export const createCredits = (deps: CreditsDeps) => {
  const { database, counters, registry, log } = deps;
  const metrics = createLedgerMetrics(registry);
  const accounts = createAccounts(deps);
  const telling = createTelling({ counters, metrics, log });
  const ledger = createLedger({ ...deps, accounts, telling, metrics });
  const statement = createStatement(database);
  const reconciliation = createReconciliation({ ...deps, accounts, metrics });

  const reserved = async (ownerId: string): Promise<number> => {
    try {
      return await counters.reserved(ownerId);
    } catch (cause) {
      const message = 'Reserved credits can not be told right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    }
  };

  const tryLater = (error: unknown) =>
    log.error({ err: error }, 'the books could not be kept; it is tried again');
  const jobs = [
    createSweeper(ledger.keepUp, tryLater, keepUpMs),
    createSweeper(reconciliation.run, tryLater, deps.reconcileSeconds * 1000),
  ];

  return {
    ...ledger,
    start() {
      for (const job of jobs) job.start();
    },
    stop: () => Promise.all(jobs.map((job) => job.stop())),

    /** Handles the payload of `usage.recorded`. */
    consume: createUsageConsumer(ledger, telling),
    reconcile: reconciliation.run,

    /**
     * @param opens makes the account where there is none; a mere look at an unknown owner doesn't
     * @throws ApiError invalid_cursor, unavailable
     */
    async statementOf(ownerId: string, opens: boolean, query: PageQuery): Promise<OwnerStatement> {
      if (opens || (await accounts.find(ownerId))) await ledger.upToDate(ownerId);
      const page = await statement.list(ownerId, query);
      return { ...page, reservedMillicredits: await reserved(ownerId) };
    },
  };
};
