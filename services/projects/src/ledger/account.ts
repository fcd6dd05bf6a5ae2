import { creditMillicredits } from '@backlot/contract';
import { uuidv7 } from 'uuidv7';
import { type Month, monthEnd, monthOf, monthStart } from './month.ts';

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

export interface AccountState {
  number: number;
  ownerId: string;
  balance: number;
  /** Of the newest line; grows with each. */
  seq: number;
  period: Month | null;
  /** Spent in that month. */
  used: number;
  /** The highest share of the month's credits that its owner was told of. */
  warnedPercent: number;
}

export interface Warning {
  percent: 80 | 95 | 100;
  balance: number;
}

const warnedAt = [80, 95, 100] as const;
const expiryOf = (grant: Grant) => grant.expiresAt ?? Number.POSITIVE_INFINITY;
const byExpiry = (a: Grant, b: Grant) =>
  expiryOf(a) === expiryOf(b) ? (a.id < b.id ? -1 : 1) : expiryOf(a) < expiryOf(b) ? -1 : 1;

export type Account = ReturnType<typeof openAccount>;

/**
 * The rules of one owner's account, in memory: whoever opens it holds its row's lock and saves what
 * has changed. The balance is what remains of its grants, at any time.
 * @param grants all with something remaining, and those lapsed that late usage may still reach
 * @param now epoch milliseconds
 */
export const openAccount = (stored: AccountState, grants: Grant[], now: number) => {
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
      ...{ id: uuidv7(), seq: state.seq, kind, from, to, amount: Math.abs(amount) },
      ...{ grantId, usage },
    });
  };

  const grant = (given: Pick<Grant, 'amount' | 'expiresAt' | 'period' | 'reason'>): Grant => {
    const made = { ...given, id: uuidv7(), remaining: given.amount, lapsed: 0 };
    grants.push(made);
    changedGrants.add(made);
    record('grant', made.amount, { grantId: made.id });
    return made;
  };

  const expire = () => {
    for (const each of grants) {
      if (each.remaining === 0 || expiryOf(each) > now) continue;
      record('expiry', -each.remaining, { grantId: each.id });
      each.lapsed = each.remaining;
      each.remaining = 0;
      changedGrants.add(each);
    }
  };

  /** Takes from the grants that were good when the work was done; returns what none of them covers. */
  const draw = (usage: Usage): number => {
    const occurredAt = Math.min(usage.occurredAt, now);
    let missing = usage.millicredits;
    for (const each of grants.sort(byExpiry)) {
      if (missing === 0) break;
      if (expiryOf(each) <= occurredAt) continue;
      const taken = Math.min(missing, each.remaining + each.lapsed);
      if (taken === 0) continue;
      // It expired between the work and its booking: that much of the expiry is taken back.
      if (each.lapsed > 0) {
        record('expiry', taken, { grantId: each.id, usage });
        each.lapsed -= taken;
      } else each.remaining -= taken;
      changedGrants.add(each);
      missing -= taken;
    }
    return missing;
  };

  const warn = () => {
    const total = state.used + state.balance;
    // Less than one credit admits no further call.
    const share = state.balance < creditMillicredits ? 1 : state.used / total;
    for (const percent of warnedAt) {
      if (percent <= state.warnedPercent || share < percent / 100) continue;
      state.warnedPercent = percent;
      warnings.push({ percent, balance: state.balance });
    }
  };

  return {
    openedAt: now,
    state: state as Readonly<AccountState>,
    grants: grants as readonly Grant[],
    lines: lines as readonly Line[],
    changedGrants: changedGrants as ReadonlySet<Grant>,
    warnings: warnings as readonly Warning[],
    grant,
    expire,

    /** Expires what is due, then makes this month's grant unless it was made. */
    bringUpToDate(monthlyMillicredits: number) {
      expire();
      const period = monthOf(now);
      if (state.period !== null && state.period >= period) return;
      Object.assign(state, { period, used: 0, warnedPercent: 0 });
      if (monthlyMillicredits === 0) return;
      const reason = 'Monthly credits';
      grant({ amount: monthlyMillicredits, expiresAt: monthEnd(period), period, reason });
    },

    /**
     * Books a call in full. What the owner's credits don't cover, which takes two failures at once, the
     * platform pays; returns that amount.
     */
    spend(usage: Usage): number {
      const missing = draw(usage);
      if (missing > 0) record('correction', missing, { usage });
      record('debit', -usage.millicredits, { usage });
      if (state.period === null || usage.occurredAt >= monthStart(state.period)) {
        state.used += usage.millicredits;
      }
      warn();
      return missing;
    },
  };
};
