import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import type { LedgerCounters } from './balance-notifier.ts';
import type { LedgerAccounts } from './ledger-accounts.ts';
import { type DifferenceKind, differenceKinds, type LedgerMetrics } from './ledger-metrics.ts';

interface AccountTotals {
  number: number;
  owner_id: string;
  balance_millicredits: number;
  used_millicredits: number;
  seq: number;
  remaining_millicredits: number;
}

/**
 * `lines`: as many as the account has counted. `balance`: what they sum to. `grants`: what remains of
 * them. `held`: credits that the counters hold for calls which were booked long ago.
 */
export interface Difference {
  ownerId: string;
  kind: DifferenceKind;
  /** What the account's row says; for `held` nothing. */
  expected: number;
  found: number;
}

export interface Reconciled {
  owners: number;
  /** How many owners differ. */
  counts: Record<DifferenceKind, number>;
  /** The first hundred. */
  differences: Difference[];
}

export interface ReconciliationDeps {
  database: Database;
  accounts: LedgerAccounts;
  counters: LedgerCounters;
  metrics: LedgerMetrics;
  log: Logger;
  now: () => number;
}

const ownersAtOnce = 100;
/** Of each owner in one statement. */
const linesAtOnce = 10_000;
const maxListed = 100;
/** The counters learn of a booking right after it. */
const settlingMs = 60_000;

export type Reconciliation = ReturnType<typeof createReconciliation>;

/**
 * Compares an owner's lines, balance, grants and held credits. Takes no lock: lines up to a number
 * never change, so they are summed after the rest was read at one instant.
 */
export const createReconciliation = (deps: ReconciliationDeps) => {
  const { database, accounts, counters, metrics, log, now } = deps;

  const readAccounts = (after: number) =>
    database.query<AccountTotals>(
      `SELECT number, owner_id, balance_millicredits, used_millicredits, seq,
              (SELECT coalesce(sum(remaining_millicredits), 0)::int8 FROM grants
                WHERE owner_account = number AND remaining_millicredits > 0) AS remaining_millicredits
         FROM accounts WHERE owner_id IS NOT NULL AND number > $1 ORDER BY number LIMIT $2`,
      [after, ownersAtOnce],
    );

  /** Count and sum of each account's lines up to its `seq`. */
  const sumLines = async (totals: readonly AccountTotals[]) => {
    const sums = new Map(totals.map((account) => [account.number, { count: 0, sum: 0 }]));
    const longest = Math.max(...totals.map((account) => account.seq));
    for (let from = 0; from < longest; from += linesAtOnce) {
      const rows = await database.query<{ owner_account: number; count: number; sum: number }>(
        `SELECT owner_account, count(*),
                sum(CASE WHEN to_account = owner_account THEN amount_millicredits ELSE -amount_millicredits END)::int8 AS sum
           FROM unnest($1::int8[], $2::int8[]) AS book (number, seq)
           JOIN transfers ON owner_account = number AND transfers.seq > $3 AND transfers.seq <= least(book.seq, $4)
          GROUP BY owner_account`,
        [
          totals.map((account) => account.number),
          totals.map((account) => account.seq),
          from,
          from + linesAtOnce,
        ],
      );
      for (const row of rows) {
        const sum = sums.get(row.owner_account);
        if (sum) Object.assign(sum, { count: sum.count + row.count, sum: sum.sum + row.sum });
      }
    }
    return sums;
  };

  /** Unavailable counters are no difference: they have alerts of their own. */
  const ignoreUnavailable = <T>(request: Promise<T>): Promise<T | undefined> =>
    request.catch((error: unknown) => {
      log.warn({ err: error }, 'held credits not compared; the next reconciliation does');
      return undefined;
    });

  /**
   * Also sets right what it finds: the counters may have missed a booking, or got a call back after a
   * loss that was booked meanwhile.
   */
  const heldAfterBooking = async (account: AccountTotals): Promise<number> => {
    const held = (await ignoreUnavailable(counters.held(account.owner_id))) ?? [];
    if (held.length === 0) return 0;
    const callIds = held.map(({ callId }) => callId);
    const booked = await accounts.booked(account.number, callIds);
    const inBalance = held.flatMap(({ callId, millicredits }) => {
      const line = booked.get(callId);
      return line && line.seq <= account.seq ? [{ ...line, callId, held: millicredits }] : [];
    });
    if (inBalance.length === 0) return 0;
    await ignoreUnavailable(
      counters.book(account.owner_id, account.balance_millicredits, account.seq, inBalance, {
        monthMillicredits: account.used_millicredits + account.balance_millicredits,
      }),
    );
    return inBalance
      .filter(({ since }) => since <= now() - settlingMs)
      .reduce((sum, { held }) => sum + held, 0);
  };

  const compare = async (totals: readonly AccountTotals[]): Promise<Difference[]> => {
    const sums = await sumLines(totals);
    const held = await Promise.all(totals.map(heldAfterBooking));
    const found: Difference[] = [];
    for (const [n, account] of totals.entries()) {
      const { count = 0, sum = 0 } = sums.get(account.number) ?? {};
      const pairs: [DifferenceKind, number, number][] = [
        ['lines', account.seq, count],
        ['balance', account.balance_millicredits, sum],
        ['grants', account.balance_millicredits, account.remaining_millicredits],
        ['held', 0, held[n] ?? 0],
      ];
      for (const [kind, expected, actual] of pairs) {
        if (expected !== actual)
          found.push({ ownerId: account.owner_id, kind, expected, found: actual });
      }
    }
    return found;
  };

  return {
    /** Goes through all owners, a bounded part at a time. */
    async run(): Promise<Reconciled> {
      const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, 0])) as Record<
        DifferenceKind,
        number
      >;
      const result: Reconciled = { owners: 0, counts, differences: [] };
      for (let after = 0; ; ) {
        const totals = await readAccounts(after);
        for (const difference of await compare(totals)) {
          counts[difference.kind] += 1;
          if (result.differences.length === maxListed) continue;
          result.differences.push(difference);
          log.error(difference, 'ledger of an owner is inconsistent');
        }
        result.owners += totals.length;
        after = totals.at(-1)?.number ?? after;
        if (totals.length < ownersAtOnce) break;
      }
      metrics.reconciled(counts);
      return result;
    },
  };
};
