import { ApiError, creditMillicredits } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import type { Account, Usage } from './account.ts';
import type { Accounts } from './accounts.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';
import { monthOf } from './month.ts';
import type { Booked, LedgerCounters, OwnerCredits, Telling } from './telling.ts';

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

export interface LedgerDeps {
  database: Database;
  accounts: Accounts;
  counters: LedgerCounters;
  telling: Telling;
  metrics: LedgerMetrics;
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** 0: no monthly grant. */
  monthlyCredits: number;
}

/** An owner's grants are read on each booking. */
const maxGrantsAlive = 1000;
/** Owners of one statement of a job. */
const jobBatch = 100;

export type Ledger = ReturnType<typeof createLedger>;

const creditsOf = ({ state }: Pick<Account, 'state'>): OwnerCredits => ({
  balanceMillicredits: state.balance,
  seq: state.seq,
});

/** What changes owners' credits. Every change is one transaction that holds the owner's row alone. */
export const createLedger = (deps: LedgerDeps) => {
  const { database, accounts, counters, telling, metrics, log, now } = deps;
  const monthly = deps.monthlyCredits * creditMillicredits;
  let rolledOver: string | undefined;

  const tellAfterCommit = (account: Account) => {
    if (account.lines.length === 0) return;
    const { ownerId } = account.state;
    database.afterCommit(
      () => void telling.booked({ ownerId, ...creditsOf(account), callIds: [] }),
    );
  };

  const change = (ownerId: string, work: (account: Account) => void): Promise<Account> =>
    database.transaction(async () => {
      const account = await accounts.change(ownerId, work);
      tellAfterCommit(account);
      return account;
    });

  /** In one order for everybody, so that batches never wait for each other in a circle. */
  const byOwner = (usages: readonly Usage[]): [string, Map<string, Usage>][] => {
    const owners = new Map<string, Map<string, Usage>>();
    for (const usage of usages) {
      const calls = owners.get(usage.ownerId) ?? new Map<string, Usage>();
      if (!calls.has(usage.callId)) calls.set(usage.callId, usage);
      owners.set(usage.ownerId, calls);
    }
    return [...owners].sort(([a], [b]) => (a < b ? -1 : 1));
  };

  const bookOwner = async (ownerId: string, calls: Map<string, Usage>): Promise<Booked> => {
    const callIds = [...calls.keys()];
    const priced = [...calls.values()].filter((usage) => usage.millicredits > 0);
    const work = async (account: Account) => {
      account.bringUpToDate(monthly);
      const booked = await accounts.booked(account.state.number, callIds);
      for (const usage of priced) {
        if (booked.has(usage.callId)) continue;
        const missing = account.spend(usage);
        if (missing === 0) continue;
        const { callId } = usage;
        database.afterCommit(() => {
          metrics.corrected(missing);
          log.error({ ownerId, callId, missing }, 'a call cost more than its owner had left');
        });
      }
    };
    const earliest = Math.min(...priced.map((usage) => usage.occurredAt));
    const account = await accounts.change(ownerId, work, earliest);
    return { ownerId, callIds, ...creditsOf(account) };
  };

  /** One owner's failure holds no other up. */
  const forEachOwner = async (
    find: (after: number, limit: number) => Promise<{ number: number; owner_id: string }[]>,
    work: (account: Account) => void,
  ): Promise<boolean> => {
    let failed = false;
    for (let after = 0; ; ) {
      const owners = await find(after, jobBatch);
      for (const { owner_id: ownerId } of owners) {
        await change(ownerId, work).catch((error: unknown) => {
          failed = true;
          log.error({ err: error, ownerId }, 'an account could not be brought up to date');
        });
      }
      after = owners.at(-1)?.number ?? after;
      if (owners.length < jobBatch) return !failed;
    }
  };

  /** Expires what is due and makes the month's grant, where that has not been done. */
  const upToDate = async (ownerId: string): Promise<OwnerCredits> => {
    const found = await accounts.find(ownerId);
    if (found && !found.isDue && found.period !== null && found.period >= monthOf(now())) {
      return creditsOf({ state: found });
    }
    return creditsOf(await change(ownerId, (account) => account.bringUpToDate(monthly)));
  };

  return {
    upToDate,

    /** For the gateway, which knows nothing of this owner yet: afterwards the counters do. */
    async loadOwner(ownerId: string): Promise<OwnerCredits> {
      const credits = await upToDate(ownerId);
      await counters.load(ownerId, credits.balanceMillicredits, credits.seq);
      return credits;
    },

    /** Each call once, by its id, whatever comes twice, late or at once: all of them or none. */
    book: (usages: readonly Usage[]): Promise<Booked[]> =>
      database.transaction(async () => {
        const booked: Booked[] = [];
        for (const [ownerId, calls] of byOwner(usages))
          booked.push(await bookOwner(ownerId, calls));
        return booked;
      }),

    /** @throws ApiError invalid_body, conflict */
    async grant({ ownerId, credits, reason, expiresAt }: NewGrant): Promise<PresentedGrant> {
      const expiry = expiresAt === undefined ? null : Date.parse(expiresAt);
      let id = '';
      const { openedAt, state } = await change(ownerId, (account) => {
        if (expiry !== null && expiry <= account.openedAt) {
          throw new ApiError('invalid_body', '"expiresAt": must be in the future');
        }
        account.bringUpToDate(monthly);
        if (account.grants.filter((each) => each.remaining > 0).length >= maxGrantsAlive) {
          throw new ApiError(
            'conflict',
            `This owner has ${maxGrantsAlive} grants that are not used up.`,
          );
        }
        const amount = credits * creditMillicredits;
        id = account.grant({ amount, expiresAt: expiry, period: null, reason }).id;
      });
      return {
        ...{ id, ownerId: state.ownerId, credits, reason },
        expiresAt: expiry === null ? null : new Date(expiry).toISOString(),
        createdAt: new Date(openedAt).toISOString(),
      };
    },

    /**
     * What time alone changes: expired grants, and at the start of a month the grants of those who were
     * active in the month before. Everybody else's are made when they come back.
     */
    async keepUp(): Promise<void> {
      const period = monthOf(now());
      if (rolledOver !== period) {
        const done = await forEachOwner(
          (after, limit) => accounts.activeBefore(period, after, limit),
          (account) => account.bringUpToDate(monthly),
        );
        if (done) rolledOver = period;
      }
      await forEachOwner(accounts.expiring, (account) => account.expire());
      await telling.catchUp(upToDate);
    },
  };
};
