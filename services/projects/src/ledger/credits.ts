/**
 * Owners' credits: the ledger (append-only, double entry), expiry and monthly grants, the credit
 * history, usage reports and reconciliation. PostgreSQL is the truth; the counters hold a working copy
 * for the gateway and are notified of every change. Prices are the contract's.
 */
import { ApiError, type EventPayloads, type Payload } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Page, PageQuery } from '@backlot/http';
import type { Logger, Registry } from '@backlot/telemetry';
import type { CallSums } from '../call-sums/call-sums.ts';
import type { Owners } from '../owners.ts';
import { createLedgerAccounts } from './account/ledger-accounts.ts';
import { createBalanceNotifier, type LedgerCounters } from './balance-notifier.ts';
import { type CreditHistoryItem, createCreditHistory } from './credit-history.ts';
import { createForecast, type Forecast } from './forecast.ts';
import { createLedger, type NewGrant, type PresentedGrant } from './ledger.ts';
import { createLedgerMetrics } from './ledger-metrics.ts';
import { createReconciliation } from './reconciliation.ts';
import { createSpenders } from './spenders.ts';
import { createUsageConsumer } from './usage-consumer.ts';

export interface CreditsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  counters: LedgerCounters;
  owners: Owners;
  addCosts: CallSums['addCosts'];
  isOwnerVerificationOn: boolean;
  registry?: Registry | undefined;
  log: Logger;
  now: () => number;
  monthlyCredits: number;
  reconcileSeconds: number;
}

export interface OwnerCreditHistory extends Page<CreditHistoryItem> {
  balanceMillicredits: number;
  /** Held by the counters for calls under way or not booked yet. */
  reservedMillicredits: number;
  forecast: Forecast;
}

/** Every booking looks at the clock itself: this is for owners who are idle. */
export const maintenanceIntervalMs = 60_000;

export type Credits = ReturnType<typeof createCredits>;

export const createCredits = (deps: CreditsDeps) => {
  const { database, counters, owners, registry, log } = deps;
  const metrics = createLedgerMetrics(registry);
  const accounts = createLedgerAccounts(deps);
  const notifier = createBalanceNotifier({ counters, metrics, log });
  const spenders = createSpenders(database, deps.now);
  const ledger = createLedger({ ...deps, accounts, notifier, metrics, spenders });
  const forecast = createForecast(database, deps.now, deps.monthlyCredits > 0);
  const creditHistory = createCreditHistory(database);
  const reconciliation = createReconciliation({ ...deps, accounts, metrics });

  const reserved = async (ownerId: string): Promise<number> => {
    try {
      return await counters.reserved(ownerId);
    } catch (cause) {
      const message = 'Reserved credits can not be read right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    }
  };

  return {
    ...ledger,

    /**
     * Looks the owner up, outside of any transaction; what it answers makes the grant.
     * @throws ApiError not_found, invalid_body, conflict, unavailable
     */
    async prepareGrant(grant: NewGrant): Promise<() => Promise<PresentedGrant>> {
      await owners.check(grant.ownerId);
      const isVerified = await owners.isVerified(grant.ownerId);
      return () => ledger.grant(grant, isVerified);
    },

    /** Handles `owner.verified`: the month's grant, for an owner who has made use of the trial. */
    async ownerVerified({ ownerId }: Payload<'owner.verified'>): Promise<void> {
      if (await accounts.find(ownerId)) await ledger.upToDate(ownerId);
    },

    /** Handles the payload of `usage.recorded`. */
    consume: createUsageConsumer(ledger, notifier),
    eraseSpender: spenders.eraseUser,
    mergeSpender: spenders.mergeUser,
    forgetSpenders: spenders.sweep,
    topSpenders: spenders.top,
    lastReconciliation: reconciliation.last,
    reconcile: reconciliation.run,
    reconcileInTurn: reconciliation.runInTurn,

    /**
     * @param opensAccount whether a ledger account is opened where the owner has none
     * @throws ApiError invalid_cursor, unavailable
     */
    async history(
      ownerId: string,
      opensAccount: boolean,
      query: PageQuery,
    ): Promise<OwnerCreditHistory> {
      if (opensAccount || (await accounts.find(ownerId))) await ledger.upToDate(ownerId);
      const page = await creditHistory.list(ownerId, query);
      return {
        ...page,
        reservedMillicredits: await reserved(ownerId),
        forecast: await forecast(ownerId, page.balanceMillicredits),
      };
    },
  };
};
