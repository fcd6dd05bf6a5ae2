import { createQueries, type Database } from '@backlot/database';
import { noteAct } from '@backlot/http';
import pMap from 'p-map';
import {
  type PaymentRow,
  paymentNotFound,
  readRefunds,
  type StoredRefund,
  toProviderPayment,
} from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { Stock } from '../products/stock.ts';
import { ProviderFailed, RefundRefused, SessionNotFound } from '../provider/provider.ts';
import { toApiError } from '../provider/provider-failures.ts';
import type { DB as Tables } from '../tables.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import { leftAmount, notRefundable, planRefund, type RefundWish } from './refund-plan.ts';

const triedAgain =
  'It is tried again by itself: look at "refunds" of the payment before you ask for another one.';
/** A call should have ended by then. */
const checkAfterMs = 10 * 60 * 1000;
const batchSize = 100;
/** Calls to providers at a time. */
const concurrency = 5;

export interface RefundsDeps {
  database: Database;
  payments: Payments;
  accounts: ProviderAccounts;
  stock: Stock;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

export type Refunds = ReturnType<typeof createRefunds>;

/**
 * Money that goes back: kept with the payment before the provider is asked, so that no two take what is left, and asked
 * for by its id however often, so that it goes back once.
 */
export const createRefunds = ({ database, payments, accounts, stock, now, log }: RefundsDeps) => {
  const queries = createQueries<Tables>(database);

  const store = (row: PaymentRow, refunds: readonly StoredRefund[]) => {
    const isPending = refunds.some(({ status }) => status === 'pending');
    return queries
      .updateTable('payments')
      .set({
        refunds: JSON.stringify(refunds),
        refund_check_at: isPending ? new Date(now() + checkAfterMs) : null,
      })
      .where('project_number', '=', row.project_number)
      .where('id', '=', row.id)
      .execute();
  };

  const locked = async (projectNumber: number, id: string): Promise<PaymentRow> => {
    const row = await payments.lock(projectNumber, id);
    if (row?.session_id == null) throw paymentNotFound();
    return row;
  };

  /** @returns what is to be done, and whether it was begun before */
  const begin = (projectNumber: number, id: string, plan: (row: PaymentRow) => StoredRefund[]) =>
    database.transaction(async () => {
      const row = await locked(projectNumber, id);
      const planned = plan(row);
      const known = readRefunds(row);
      const added = planned.filter(({ id }) => !known.some((refund) => refund.id === id));
      const refunds = [...known, ...added];
      if (added.length > 0) {
        await store(row, refunds);
        const amounts = added.map(({ amount }) => amount);
        await noteAct({ after: { payment: row.id, currency: row.currency, refunds: amounts } });
      }
      const isLast = leftAmount(row.amount, refunds) === 0;
      const pending = planned.filter(({ status }) => status === 'pending');
      return { row, pending, isLast, isRepeated: added.length === 0 };
    });

  /** The provider has said that it does not do it. */
  const giveUp = (row: PaymentRow, { id }: StoredRefund) =>
    database.transaction(async () => {
      const current = await locked(row.project_number, row.id);
      const isKept = (refund: StoredRefund) => refund.id !== id || refund.status === 'done';
      await store(current, readRefunds(current).filter(isKept));
    });

  const end = (row: PaymentRow, refund: StoredRefund) =>
    database.transaction(async () => {
      const current = await locked(row.project_number, row.id);
      const stored = readRefunds(current);
      const others = stored.filter(({ id }) => id !== refund.id);
      const known = stored.find(({ id }) => id === refund.id);
      if (known?.status === 'done') return;
      const refunds: StoredRefund[] = [...others, { ...refund, status: 'done' }];
      await store(current, refunds);
      await stock.putBack(row.project_number, refund.restock);
      const isAll =
        leftAmount(current.amount, refunds) === 0 &&
        refunds.every(({ status }) => status === 'done');
      if (isAll) await payments.advance(row.project_number, row.id, { status: 'refunded' });
    });

  const make = async (
    row: PaymentRow,
    refund: StoredRefund,
    { isLast, isRepeated }: { isLast: boolean; isRepeated: boolean },
  ): Promise<void> => {
    const account = await accounts.find(row);
    try {
      if (!account) throw new SessionNotFound();
      const { id, isWhole } = refund;
      const amount = isWhole ? null : refund.amount;
      const payment = toProviderPayment(row, row.session_id ?? '');
      await account.refund(payment, { id, amount, isLast, mayExist: isRepeated });
    } catch (error) {
      const isRefused =
        error instanceof SessionNotFound ||
        error instanceof RefundRefused ||
        (error instanceof ProviderFailed && error.reason === 'credentials');
      if (isRefused && row.status !== 'refunding') await giveUp(row, refund);
      if (!account) throw notRefundable('the project has no keys of the account that was paid');
      if (error instanceof SessionNotFound)
        throw notRefundable('the account of the project does not know it', error);
      if (error instanceof RefundRefused)
        throw notRefundable('the provider refuses this amount', error);
      throw toApiError(error, triedAgain);
    }
    await end(row, refund);
  };

  const run = async (
    projectNumber: number,
    id: string,
    plan: (row: PaymentRow) => StoredRefund[],
  ): Promise<PaymentRow> => {
    const { row, pending, ...how } = await begin(projectNumber, id, plan);
    for (const refund of pending) await make(row, refund, how);
    return payments.get(projectNumber, { id });
  };

  /** All of it, because what was paid for is gone. */
  const planAll = (row: PaymentRow): StoredRefund[] => {
    const { id, amount } = row;
    if (row.status !== 'refunding') return readRefunds(row);
    const createdAt = new Date(now()).toISOString();
    const known = readRefunds(row).find((refund) => refund.id === id);
    return [known ?? { id, amount, isWhole: true, restock: [], status: 'pending', createdAt }];
  };

  const claimDue = async () => {
    const next = new Date(now() + checkAfterMs);
    return database.query<PaymentRow>(
      `UPDATE payments SET refund_check_at = $2 WHERE (project_number, id) IN (
         SELECT project_number, id FROM payments WHERE refund_check_at <= $1
          ORDER BY refund_check_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
       RETURNING *`,
      [new Date(now()), next],
    );
  };

  return {
    /**
     * A part, or all that is left; a refunded payment is answered as it is.
     * @throws ApiError not_found, not_refundable, conflict, invalid_body, upstream_failed, timeout
     */
    async refund(projectNumber: number, paymentId: string, wish: RefundWish): Promise<PaymentRow> {
      const row = await payments.get(projectNumber, { id: paymentId });
      if (row.status === 'refunded' && wish.amount === undefined) return row;
      return run(projectNumber, row.id, (current) =>
        current.status === 'refunding' && wish.amount === undefined
          ? planAll(current)
          : planRefund(current, wish, now()),
      );
    },

    /** What is `refunding`. */
    giveBack: (projectNumber: number, id: string) => run(projectNumber, id, planAll),

    /** For the sweep: what a crash, or a provider that failed, left without an end. */
    async finishPending(): Promise<void> {
      const finish = async (row: PaymentRow): Promise<void> => {
        await run(row.project_number, row.id, readRefunds).catch((err: unknown) =>
          log.warn({ err, paymentId: row.id }, 'refund failed; a later sweep retries'),
        );
      };
      await pMap(
        await claimDue(),
        (row) => database.inProject(row.project_number, () => finish(row)),
        { concurrency },
      );
    },
  };
};
