import { ApiError, creditMillicredits, isUuid, type ProjectUseAsking } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import type { Owners } from '../owners.ts';
import type { LedgerAccount, RegularGrants, Usage } from './account/ledger-account.ts';
import type { LedgerAccounts } from './account/ledger-accounts.ts';
import { toMonth } from './account/month.ts';
import type {
  BalanceNotifier,
  BookedCalls,
  LedgerCounters,
  OwnerCredits,
} from './balance-notifier.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';
import { projectUse } from './project-use.ts';
import type { Spenders } from './spenders.ts';

export interface NewGrant {
  ownerId: string;
  credits: number;
  reason: string;
  /** ISO 8601. */
  expiresAt?: string | undefined;
}

export interface PresentedGrant {
  id: string;
  ownerId: string;
  credits: number;
  reason: string;
  expiresAt: string | null;
  createdAt: string;
}

export interface GrantReversal {
  grantId: string;
  reason: string;
}

export interface PresentedReversal extends GrantReversal {
  ownerId: string;
  reversedMillicredits: number;
  /** Of the grant, before. */
  spentMillicredits: number;
  balanceMillicredits: number;
}

export interface LedgerDeps {
  database: Database;
  accounts: LedgerAccounts;
  counters: LedgerCounters;
  notifier: BalanceNotifier;
  metrics: LedgerMetrics;
  spenders: Pick<Spenders, 'add'>;
  /** Told of calls once they are booked. */
  addCosts: (usages: readonly Usage[]) => Promise<void>;
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** 0: no monthly grant. */
  monthlyCredits: number;
  owners: Pick<Owners, 'isVerified'>;
  /** Off: every owner counts as verified. */
  isOwnerVerificationOn: boolean;
}

/** An owner's grants are read on each booking. */
const maxGrantsAlive = 1000;
/** Once, for an owner whose e-mail address is not verified yet. */
const trialCredits = 20;
/** Owners of one statement of a job. */
const jobBatch = 100;

export type Ledger = ReturnType<typeof createLedger>;

const ownerCredits = ({ state }: Pick<LedgerAccount, 'state'>): OwnerCredits => ({
  balanceMillicredits: state.balance,
  seq: state.seq,
  monthMillicredits: state.used + state.balance,
});

/** What changes owners' credits. Every change is one transaction that holds the owner's row alone. */
export const createLedger = (deps: LedgerDeps) => {
  const { database, accounts, counters, notifier, metrics, spenders, log, now } = deps;
  const { owners, isOwnerVerificationOn, addCosts } = deps;
  const monthly = deps.monthlyCredits * creditMillicredits;
  const trial = Math.min(trialCredits, deps.monthlyCredits) * creditMillicredits;
  /** Where no owner is looked up. Who has had a month's grant before gets the next in any case. */
  const grants: RegularGrants = isOwnerVerificationOn
    ? { monthly, trialInstead: trial }
    : { monthly };
  let rolledOver: string | undefined;

  const notifyAfterCommit = (account: LedgerAccount) => {
    if (account.lines.length === 0) return;
    const { ownerId } = account.state;
    database.afterCommit(
      () => void notifier.notify({ ownerId, ...ownerCredits(account), calls: [] }),
    );
  };

  const change = (
    ownerId: string,
    work: (account: LedgerAccount) => Promise<void> | void,
  ): Promise<LedgerAccount> =>
    database.transaction(async () => {
      const account = await accounts.change(ownerId, work);
      notifyAfterCommit(account);
      return account;
    });

  /** In one order for everybody, so that batches can not deadlock. */
  const byOwner = (usages: readonly Usage[]): [string, Map<string, Usage>][] => {
    const owners = new Map<string, Map<string, Usage>>();
    for (const usage of usages) {
      const calls = owners.get(usage.ownerId) ?? new Map<string, Usage>();
      if (!calls.has(usage.callId)) calls.set(usage.callId, usage);
      owners.set(usage.ownerId, calls);
    }
    return [...owners].sort(([a], [b]) => (a < b ? -1 : 1));
  };

  const bookOwner = async (ownerId: string, calls: Map<string, Usage>): Promise<BookedCalls> => {
    const callIds = [...calls.keys()];
    const priced = [...calls.values()].filter((usage) => usage.millicredits > 0);
    const spent: Usage[] = [];
    const work = async (account: LedgerAccount) => {
      account.bringUpToDate(grants);
      const booked = await accounts.booked(account.state.number, callIds);
      for (const usage of priced) {
        if (booked.has(usage.callId)) continue;
        spent.push(usage);
        const uncovered = account.spend(usage);
        if (uncovered === 0) continue;
        const { callId } = usage;
        database.afterCommit(() => {
          metrics.corrected(uncovered);
          log.error(
            { ownerId, callId, uncovered },
            'call cost more than its owner had left; the platform pays the rest',
          );
        });
      }
    };
    const earliest = Math.min(...priced.map((usage) => usage.occurredAt));
    const account = await accounts.change(ownerId, work, earliest);
    await spenders.add(spent);
    if (spent.length > 0) database.afterCommit(() => void addCosts(spent));
    const held = [...calls.values()].map(({ callId, millicredits }) => ({ callId, millicredits }));
    return { ownerId, calls: held, ...ownerCredits(account) };
  };

  /** An owner who fails does not stop the others. */
  const forEachOwner = async (
    find: (after: number, limit: number) => Promise<{ number: number; owner_id: string }[]>,
    work: (account: LedgerAccount) => void,
  ): Promise<boolean> => {
    let failed = false;
    for (let after = 0; ; ) {
      const owners = await find(after, jobBatch);
      for (const { owner_id: ownerId } of owners) {
        await change(ownerId, work).catch((error: unknown) => {
          failed = true;
          log.error({ err: error, ownerId }, 'ledger account not brought up to date; retrying');
        });
      }
      after = owners.at(-1)?.number ?? after;
      if (owners.length < jobBatch) return !failed;
    }
  };

  /** Expires what is due and makes the month's grant, where that has not been done. */
  const upToDate = async (ownerId: string): Promise<OwnerCredits> => {
    const found = await accounts.find(ownerId);
    const isDone = found !== null && !found.isDue;
    if (isDone && found.period !== null && found.period >= toMonth(now())) {
      return ownerCredits({ state: found });
    }
    const isFirst = found === null || found.period === null;
    const isUnverified = isFirst && !(await owners.isVerified(ownerId));
    if (isDone && isUnverified && found.seq > 0) return ownerCredits({ state: found });
    const due = isUnverified ? grants : { monthly };
    return ownerCredits(await change(ownerId, (account) => account.bringUpToDate(due)));
  };

  return {
    upToDate,

    /** Puts the balance into the counters, for a gateway that has not met this owner yet. */
    async loadOwner(ownerId: string, project?: ProjectUseAsking): Promise<OwnerCredits> {
      const credits = await upToDate(ownerId);
      const { balanceMillicredits, seq, monthMillicredits } = credits;
      const used = project && (await projectUse(database, project));
      const details = { monthMillicredits, ...(used && { used }) };
      await counters.load(ownerId, balanceMillicredits, seq, details);
      return credits;
    },

    /** Each call once, by its id, whatever comes twice, late or at once: all of them or none. */
    book: (usages: readonly Usage[]): Promise<BookedCalls[]> =>
      database.transaction(async () => {
        const booked: BookedCalls[] = [];
        for (const [ownerId, calls] of byOwner(usages))
          booked.push(await bookOwner(ownerId, calls));
        return booked;
      }),

    /** @throws ApiError invalid_body, conflict */
    async grant(
      { ownerId, credits, reason, expiresAt }: NewGrant,
      isVerified: boolean,
    ): Promise<PresentedGrant> {
      const due = isVerified ? { monthly } : grants;
      const expiry = expiresAt === undefined ? null : Date.parse(expiresAt);
      let id = '';
      const { openedAt, state } = await change(ownerId, (account) => {
        if (expiry !== null && expiry <= account.openedAt) {
          throw new ApiError('invalid_body', '"expiresAt" must be in the future');
        }
        account.bringUpToDate(due);
        if (account.grants.filter(({ remaining }) => remaining > 0).length >= maxGrantsAlive) {
          throw new ApiError(
            'conflict',
            `This owner has ${maxGrantsAlive} grants that are not used up.`,
          );
        }
        const amount = credits * creditMillicredits;
        id = account.addGrant({ amount, expiresAt: expiry, period: null, reason }).id;
      });
      return {
        id,
        ownerId: state.ownerId,
        credits,
        reason,
        expiresAt: expiry === null ? null : new Date(expiry).toISOString(),
        createdAt: new Date(openedAt).toISOString(),
      };
    },

    /** @throws ApiError not_found, conflict */
    async reverse({ grantId, reason }: GrantReversal): Promise<PresentedReversal> {
      const found = isUuid(grantId) && (await accounts.findGrant(grantId));
      if (!found) throw new ApiError('not_found', 'There is no such grant.');
      const { ownerId } = found;
      let amount = 0;
      let left = 0;
      const { state } = await change(ownerId, async (account) => {
        account.expire();
        const grant = account.grants.find(({ id }) => id === grantId.toLowerCase());
        if (!grant || grant.remaining === 0) {
          const isReversed = (await accounts.findGrant(grantId))?.isReversed;
          throw new ApiError(
            'conflict',
            isReversed
              ? 'This grant has been reversed before.'
              : 'Nothing is left of this grant: it was spent, or has expired. A balance never falls below zero.',
          );
        }
        ({ amount, remaining: left } = grant);
        account.reverse(grant, reason);
      });
      return {
        grantId: grantId.toLowerCase(),
        ownerId,
        reason,
        reversedMillicredits: left,
        spentMillicredits: amount - left,
        balanceMillicredits: state.balance,
      };
    },

    /**
     * Expires grants that are due and, at the start of a month, makes the grants of owners who were active
     * in the month before. All others get theirs when they come back.
     */
    async maintain(): Promise<void> {
      const period = toMonth(now());
      if (rolledOver !== period) {
        const done = await forEachOwner(
          (after, limit) => accounts.activeBefore(period, after, limit),
          (account) => account.bringUpToDate(grants),
        );
        if (done) rolledOver = period;
      }
      await forEachOwner(accounts.expiring, (account) => account.expire());
      await notifier.retryFailed(upToDate);
    },
  };
};
