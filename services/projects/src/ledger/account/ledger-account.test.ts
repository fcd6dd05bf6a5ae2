import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Grant,
  type LedgerAccountState,
  openLedgerAccount,
  type Usage,
} from './ledger-account.ts';

const start = Date.UTC(2026, 10, 1);
const usageEvent = (millicredits: number, occurredAt: number, callId = 'call'): Usage => ({
  callId,
  ownerId: 'owner',
  projectNumber: 7,
  projectId: 'p',
  route: 'r',
  millicredits,
  units: {},
  occurredAt,
});

/** Opens the account anew for each step, as the service does. */
const keptAccount = () => {
  let state: LedgerAccountState = {
    number: 100,
    ownerId: 'owner',
    balance: 0,
    seq: 0,
    period: null,
    used: 0,
    warnedPercent: 0,
  };
  const grants = new Set<Grant>();
  const lines: { kind: string; signed: number }[] = [];
  const warned: number[] = [];
  return {
    lines,
    warned,
    state: () => state,
    remaining: () => [...grants].reduce((sum, grant) => sum + grant.remaining, 0),
    step(now: number, work: (account: ReturnType<typeof openLedgerAccount>) => void) {
      const account = openLedgerAccount(state, [...grants], now);
      work(account);
      state = account.state;
      for (const grant of account.changedGrants) grants.add(grant);
      for (const line of account.lines) {
        lines.push({ kind: line.kind, signed: line.to === 100 ? line.amount : -line.amount });
      }
      warned.push(...account.warnings.map((warning) => warning.percent));
    },
  };
};

/** The same in the plainest words: everything in the order in which it happened. */
const inOrder = (grants: readonly [number, number | null][], usages: Usage[], end: number) => {
  const left = grants.map(([amount, expiresAt]) => ({
    amount,
    expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
  }));
  left.sort((a, b) => a.expiresAt - b.expiresAt);
  let uncovered = 0;
  for (const usage of usages.toSorted((a, b) => a.occurredAt - b.occurredAt)) {
    let open = usage.millicredits;
    for (const grant of left.filter(({ expiresAt }) => expiresAt > usage.occurredAt)) {
      const taken = Math.min(open, grant.amount);
      grant.amount -= taken;
      open -= taken;
    }
    uncovered += open;
  }
  const balance = left
    .filter(({ expiresAt }) => expiresAt > end)
    .reduce((sum, { amount }) => sum + amount, 0);
  return { balance, uncovered };
};

describe('account', () => {
  it('spends what expires first, and what never expires last', () => {
    const account = keptAccount();
    account.step(start, ({ addGrant }) => {
      addGrant({ amount: 10, expiresAt: null, period: null, reason: 'for good' });
      addGrant({ amount: 10, expiresAt: start + 200, period: null, reason: 'later' });
      addGrant({ amount: 10, expiresAt: start + 100, period: null, reason: 'soon' });
    });
    account.step(start + 1, ({ spend }) => void spend(usageEvent(15, start)));
    account.step(start + 100, ({ expire }) => expire());
    expect(account.state().balance).toBe(15);
    account.step(start + 200, ({ expire }) => expire());
    expect(account.lines.slice(3)).toEqual([
      { kind: 'debit', signed: -15 },
      { kind: 'expiry', signed: -5 },
    ]);
  });

  it('ends a grant at its very millisecond', () => {
    const account = keptAccount();
    account.step(
      start,
      ({ addGrant }) =>
        void addGrant({ amount: 5, expiresAt: start + 10, period: null, reason: '' }),
    );
    account.step(start + 9, ({ expire }) => expire());
    expect(account.state().balance).toBe(5);
    account.step(start + 10, ({ expire }) => expire());
    expect(account.state().balance).toBe(0);
  });

  it('pays work from the credits of its own time, though they have expired before it was booked', () => {
    const account = keptAccount();
    account.step(
      start,
      ({ addGrant }) =>
        void addGrant({ amount: 10, expiresAt: start + 100, period: null, reason: '' }),
    );
    account.step(start + 100, ({ expire, addGrant }) => {
      expire();
      addGrant({ amount: 20, expiresAt: null, period: null, reason: 'next' });
    });
    account.step(start + 101, ({ spend }) => void spend(usageEvent(7, start + 99)));
    expect(account.state().balance).toBe(20);
    expect(account.lines.slice(1)).toEqual([
      { kind: 'expiry', signed: -10 },
      { kind: 'grant', signed: 20 },
      { kind: 'expiry', signed: 7 },
      { kind: 'debit', signed: -7 },
    ]);
  });

  it('pays what a faster clock dated past the expiry of credits that are still there', () => {
    const account = keptAccount();
    account.step(
      start,
      ({ addGrant }) =>
        void addGrant({ amount: 10, expiresAt: start + 100, period: null, reason: '' }),
    );
    account.step(start + 99, ({ spend }) => expect(spend(usageEvent(4, start + 101))).toBe(0));
    expect(account.state().balance).toBe(6);
  });

  it('comes to what it would have come to in order, whatever is booked late, out of order or across expiries', () => {
    const amount = fc.integer({ min: 1, max: 40 });
    const time = fc.integer({ min: 0, max: 100 });
    const history = fc.record({
      grants: fc.array(fc.tuple(amount, fc.option(fc.integer({ min: 1, max: 100 }))), {
        maxLength: 6,
      }),
      usages: fc.array(fc.record({ amount, occurred: time, delay: time }), { maxLength: 12 }),
      jobs: fc.array(time, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(history, ({ grants, usages, jobs }) => {
        const account = keptAccount();
        const given = grants.map(([size, after]): [number, number | null] => [
          size,
          after === null ? null : start + after,
        ]);
        account.step(start, ({ addGrant }) => {
          for (const [size, expiresAt] of given)
            addGrant({ amount: size, expiresAt, period: null, reason: '' });
        });
        let uncovered = 0;
        const steps = usages.map(({ amount: size, occurred, delay }) => ({
          at: start + occurred + delay,
          usage: usageEvent(size, start + occurred),
        }));
        const all = [...steps, ...jobs.map((at) => ({ at: start + at, usage: null }))];
        for (const { at, usage } of all.toSorted((a, b) => a.at - b.at)) {
          account.step(at, ({ expire, spend }) => {
            expire();
            if (usage) uncovered += spend(usage);
          });
          expect(account.state().balance).toBe(account.remaining());
          expect(account.state().balance).toBeGreaterThanOrEqual(0);
        }
        const end = start + 201;
        account.step(end, ({ expire }) => expire());
        const expected = inOrder(
          given,
          steps.map((step) => step.usage),
          end,
        );
        expect({ balance: account.state().balance, uncovered }).toEqual(expected);
        expect(account.lines.reduce((sum, line) => sum + line.signed, 0)).toBe(expected.balance);
        expect(account.state().seq).toBe(account.lines.length);
      }),
      { numRuns: 1000 },
    );
  });

  it('warns at 80, 95 and 100 % of what the month has to spend, once each, and anew the month after', () => {
    const account = keptAccount();
    const spend = (now: number, credits: number) =>
      account.step(now, ({ bringUpToDate, spend: book }) => {
        bringUpToDate({ monthly: 100_000 });
        book(usageEvent(credits * 1000, now));
      });
    spend(start, 79);
    expect(account.warned).toEqual([]);
    spend(start, 1);
    expect(account.warned).toEqual([80]);
    spend(start, 14);
    spend(start, 1);
    expect(account.warned).toEqual([80, 95]);
    spend(start, 5);
    expect(account.warned).toEqual([80, 95, 100]);
    account.step(
      start,
      ({ addGrant }) =>
        void addGrant({ amount: 10_000, expiresAt: null, period: null, reason: '' }),
    );
    spend(start, 10);
    expect(account.warned).toEqual([80, 95, 100]);
    spend(Date.UTC(2026, 11, 1), 80);
    expect(account.warned).toEqual([80, 95, 100, 80]);
  });

  it('leaves what was used in the month before out of the warnings of this one', () => {
    const account = keptAccount();
    const next = Date.UTC(2026, 11, 1);
    account.step(start, ({ bringUpToDate }) => bringUpToDate({ monthly: 100_000 }));
    account.step(next, ({ bringUpToDate, spend }) => {
      bringUpToDate({ monthly: 100_000 });
      spend(usageEvent(90_000, next - 1));
      spend(usageEvent(79_000, next));
    });
    expect(account.warned).toEqual([]);
  });

  it('counts less than one credit as none, because no call is admitted with it', () => {
    const account = keptAccount();
    account.step(start, ({ bringUpToDate, spend }) => {
      bringUpToDate({ monthly: 100_000 });
      spend(usageEvent(99_001, start));
    });
    expect(account.warned).toEqual([80, 95, 100]);
  });
});
