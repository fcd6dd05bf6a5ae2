import type { Database } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import type { LedgerAccounts } from './account/ledger-accounts.ts';
import type { LedgerCounters } from './balance-notifier.ts';
import { type AccountLines, createCheckedLines } from './checked-lines.ts';
import { type DifferenceKind, differenceKinds, type LedgerMetrics } from './ledger-metrics.ts';

interface AccountTotals extends AccountLines {
  owner_id: string;
  used_millicredits: number;
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
  /** How many lines were read. */
  lines: number;
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
  /** How often it is done, whatever the number of processes. */
  reconcileSeconds: number;
}

const ownersAtOnce = 100;
/** All of an owner's lines are read again after that long. */
const wholeEveryMs = 24 * 3600 * 1000;
const maxListed = 100;
/** The counters learn of a booking right after it. */
const settlingMs = 60_000;

export type Reconciliation = ReturnType<typeof createReconciliation>;

/**
 * Compares an owner's lines, balance, grants and held credits, with lines that were found right before read
 * once a day alone.
 */
export const createReconciliation = (deps: ReconciliationDeps) => {
  const { database, accounts, counters, metrics, log, now } = deps;
  const checkedLines = createCheckedLines(database, now);

  const readAccounts = (after: number) =>
    database.query<AccountTotals>(
      `SELECT number, owner_id, balance_millicredits, used_millicredits, accounts.seq,
              coalesce(checked.seq, 0) AS checked_seq,
              coalesce(sum_millicredits, 0) AS checked_millicredits,
              (SELECT coalesce(sum(remaining_millicredits), 0)::int8 FROM grants
                WHERE owner_account = number AND remaining_millicredits > 0) AS remaining_millicredits
         FROM accounts
         LEFT JOIN checked_lines checked
           ON owner_account = number AND read_whole_at > $3 AND checked.seq <= accounts.seq
        WHERE owner_id IS NOT NULL AND number > $1 ORDER BY number LIMIT $2`,
      [after, ownersAtOnce, new Date(now() - wholeEveryMs).toISOString()],
    );

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

  const compare = async (totals: readonly AccountTotals[]) => {
    const { sums, lines } = await checkedLines.sum(totals);
    const held = await Promise.all(totals.map(heldAfterBooking));
    const found: Difference[] = [];
    for (const [n, account] of totals.entries()) {
      const { count = 0, millicredits = 0 } = sums.get(account.number) ?? {};
      const pairs: [DifferenceKind, number, number][] = [
        ['lines', account.seq, count],
        ['balance', account.balance_millicredits, millicredits],
        ['grants', account.balance_millicredits, account.remaining_millicredits],
        ['held', 0, held[n] ?? 0],
      ];
      for (const [kind, expected, actual] of pairs) {
        if (expected !== actual)
          found.push({ ownerId: account.owner_id, kind, expected, found: actual });
      }
    }
    return { found, lines };
  };

  /** Goes through all owners, a bounded part at a time. */
  const run = async (): Promise<Reconciled> => {
    const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, 0])) as Record<
      DifferenceKind,
      number
    >;
    const result: Reconciled = { owners: 0, lines: 0, counts, differences: [] };
    for (let after = 0; ; ) {
      const totals = await readAccounts(after);
      const { found, lines } = await compare(totals);
      for (const difference of found) {
        counts[difference.kind] += 1;
        if (result.differences.length === maxListed) continue;
        result.differences.push(difference);
        log.error(difference, 'ledger of an owner is inconsistent');
      }
      result.owners += totals.length;
      result.lines += lines;
      after = totals.at(-1)?.number ?? after;
      if (totals.length < ownersAtOnce) break;
    }
    metrics.reconciled(counts);
    return result;
  };

  const time = (ms: number) => new Date(ms).toISOString();
  /** A little less than the interval: clocks and timers differ. */
  const dueAfterMs = deps.reconcileSeconds * 900;

  return {
    run,

    /** When it began last, in whatever process, and how many owners differed. */
    async last(): Promise<{ startedAt: string | null; owners: Record<DifferenceKind, number> }> {
      const [row] = await database.query<{
        started_at: Date;
        counts: Partial<Record<DifferenceKind, number>>;
      }>('SELECT started_at, counts FROM reconciliation');
      return {
        startedAt: row?.started_at.toISOString() ?? null,
        owners: { lines: 0, balance: 0, grants: 0, held: 0, ...row?.counts },
      };
    },

    /**
     * Unless another process began in this interval, whose result it shows then. One that dies meanwhile is
     * followed by whoever comes in the next.
     */
    async runInTurn(): Promise<Reconciled | undefined> {
      const [turn] = await database.query(
        `INSERT INTO reconciliation (started_at) VALUES ($1)
         ON CONFLICT (is_only) DO UPDATE SET started_at = excluded.started_at
          WHERE reconciliation.started_at <= $2 RETURNING started_at`,
        [time(now()), time(now() - dueAfterMs)],
      );
      if (turn) {
        const reconciled = await run();
        await database.query('UPDATE reconciliation SET counts = $1', [
          JSON.stringify(reconciled.counts),
        ]);
        return reconciled;
      }
      const [last] = await database.query<{ counts: Partial<Record<DifferenceKind, number>> }>(
        'SELECT counts FROM reconciliation',
      );
      metrics.reconciled({ lines: 0, balance: 0, grants: 0, held: 0, ...last?.counts });
      return undefined;
    },
  };
};
