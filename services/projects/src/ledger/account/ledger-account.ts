import { creditMillicredits } from '@backlot/contract';
import { uuidv7 } from 'uuidv7';
import { type Month, monthEnd, monthStart, toMonth } from './month.ts';

/** The platform's sides of a transfer: rows of migration 0002. */
const platformAccounts = { grants: 1, revenue: 2, expired: 3, corrections: 4 } as const;
const sides = {
  grant: platformAccounts.grants,
  debit: platformAccounts.revenue,
  expiry: platformAccounts.expired,
  correction: platformAccounts.corrections,
} as const;

/** Amounts are millicredits. */
export interface Grant {
  id: string;
  amount: number;
  remaining: number;
  /** What expired unused. */
  lapsed: number;
  /** Epoch milliseconds; null: never. */
  expiresAt: number | null;
  /** Of a month's grant. */
  period: Month | null;
  reason: string;
  /** When the operator has taken back what was left of it (epoch milliseconds), and why. */
  reversed?: { at: number; reason: string };
}

/** What an owner gets without an operator; millicredits. */
export interface RegularGrants {
  monthly: number;
  /** Once, for an owner who has had no month's grant before, instead of it. */
  trialInstead?: number;
}

/** A priced call that did its work. */
export interface Usage {
  callId: string;
  ownerId: string;
  projectNumber: number;
  projectId: string;
  route: string;
  millicredits: number;
  units: Record<string, number>;
  /** As the log of changes names callers. */
  caller?: string | undefined;
  /** Network address of a visitor or user. */
  address?: string | undefined;
  /** Epoch milliseconds. */
  occurredAt: number;
}

/** One line of the ledger: a positive amount moves between an owner's account and the platform's. */
export interface Line {
  id: string;
  seq: number;
  kind: keyof typeof sides;
  from: number;
  to: number;
  amount: number;
  grantId: string | null;
  usage: Usage | null;
}

export interface LedgerAccountState {
  number: number;
  ownerId: string;
  balance: number;
  /** Of the newest line; every line has the next number. */
  seq: number;
  period: Month | null;
  /** Spent in that month. */
  used: number;
  /** The highest share of the month's credits that its owner was warned of. */
  warnedPercent: number;
}

export interface Warning {
  percent: 80 | 95 | 100;
  balance: number;
}

const warnedAt = [80, 95, 100] as const;
const expiryTime = (grant: Grant) => grant.expiresAt ?? Number.POSITIVE_INFINITY;
const byExpiry = (a: Grant, b: Grant) =>
  expiryTime(a) === expiryTime(b) ? (a.id < b.id ? -1 : 1) : expiryTime(a) < expiryTime(b) ? -1 : 1;

export type LedgerAccount = ReturnType<typeof openLedgerAccount>;

/**
 * The rules of one owner's account, in memory: whoever opens it holds its row's lock and saves what
 * has changed. The balance is what remains of its grants, at any time.
 * @param grants all with something remaining, and those lapsed that late usage may still reach
 * @param now epoch milliseconds
 */
export const openLedgerAccount = (stored: LedgerAccountState, grants: Grant[], now: number) => {
  const state = { ...stored };
  const lines: Line[] = [];
  const changedGrants = new Set<Grant>();
  const warnings: Warning[] = [];

  /** @param amount positive: to the owner */
  const record = (
    kind: Line['kind'],
    amount: number,
    { grantId = null, usage = null }: { grantId?: string | null; usage?: Usage | null },
  ) => {
    const [from, to] = amount > 0 ? [sides[kind], state.number] : [state.number, sides[kind]];
    state.balance += amount;
    state.seq += 1;
    lines.push({
      id: uuidv7(),
      seq: state.seq,
      kind,
      from,
      to,
      amount: Math.abs(amount),
      grantId,
      usage,
    });
  };

  const addGrant = (terms: Pick<Grant, 'amount' | 'expiresAt' | 'period' | 'reason'>): Grant => {
    const grant = { ...terms, id: uuidv7(), remaining: terms.amount, lapsed: 0 };
    grants.push(grant);
    changedGrants.add(grant);
    record('grant', grant.amount, { grantId: grant.id });
    return grant;
  };

  const expire = () => {
    for (const grant of grants) {
      if (grant.remaining === 0 || expiryTime(grant) > now) continue;
      record('expiry', -grant.remaining, { grantId: grant.id });
      grant.lapsed = grant.remaining;
      grant.remaining = 0;
      changedGrants.add(grant);
    }
  };

  /** Takes from the grants that were good when the work was done; returns what none of them covers. */
  const draw = (usage: Usage): number => {
    const occurredAt = Math.min(usage.occurredAt, now);
    let uncovered = usage.millicredits;
    for (const grant of grants.sort(byExpiry)) {
      if (uncovered === 0) break;
      if (expiryTime(grant) <= occurredAt) continue;
      const taken = Math.min(uncovered, grant.remaining + grant.lapsed);
      if (taken === 0) continue;
      // It expired between the work and its booking: that much of the expiry is taken back.
      if (grant.lapsed > 0) {
        record('expiry', taken, { grantId: grant.id, usage });
        grant.lapsed -= taken;
      } else grant.remaining -= taken;
      changedGrants.add(grant);
      uncovered -= taken;
    }
    return uncovered;
  };

  const warn = () => {
    const total = state.used + state.balance;
    // At the list prices, less than one credit admits no further call.
    const share = state.balance < creditMillicredits ? 1 : state.used / total;
    for (const percent of warnedAt) {
      if (percent <= state.warnedPercent || share < percent / 100) continue;
      state.warnedPercent = percent;
      warnings.push({ percent, balance: state.balance });
    }
  };

  return {
    openedAt: now,
    state: state as Readonly<LedgerAccountState>,
    grants: grants as readonly Grant[],
    lines: lines as readonly Line[],
    changedGrants: changedGrants as ReadonlySet<Grant>,
    warnings: warnings as readonly Warning[],
    addGrant,
    expire,

    /** Takes back what is left of a grant that is not used up. What calls under way spend of it the platform pays. */
    reverse(grant: Grant, reason: string) {
      record('correction', -grant.remaining, { grantId: grant.id });
      grant.remaining = 0;
      grant.reversed = { at: now, reason };
      changedGrants.add(grant);
      warn();
    },

    /** Expires what is due, then makes this month's grant unless it was made. */
    bringUpToDate({ monthly, trialInstead }: RegularGrants) {
      expire();
      const period = toMonth(now);
      if (state.period !== null && state.period >= period) return;
      if (state.period === null && trialInstead !== undefined) {
        if (state.seq > 0 || trialInstead === 0) return;
        addGrant({ amount: trialInstead, expiresAt: null, period: null, reason: 'Trial credits' });
        return;
      }
      Object.assign(state, { period, used: 0, warnedPercent: 0 });
      if (monthly === 0) return;
      const reason = 'Monthly credits';
      addGrant({ amount: monthly, expiresAt: monthEnd(period), period, reason });
    },

    /**
     * Books a call in full. What the owner's credits don't cover, which takes two failures at once, the
     * platform pays; returns that amount.
     */
    spend(usage: Usage): number {
      const uncovered = draw(usage);
      if (uncovered > 0) record('correction', uncovered, { usage });
      record('debit', -usage.millicredits, { usage });
      if (state.period === null || usage.occurredAt >= monthStart(state.period)) {
        state.used += usage.millicredits;
      }
      warn();
      return uncovered;
    },
  };
};
