import type { Database } from '@backlot/database';
import pMap from 'p-map';
import type { Lookups } from '../checkout/lookups.ts';
import type { ProviderAccounts } from '../checkout/provider-accounts.ts';
import type { Refunds } from '../checkout/refunds.ts';
import type { PaidRecords } from '../payments/paid-records.ts';
import { type PaymentRow, toOrder, toProviderPayment } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import { OrderRefused } from '../provider/provider.ts';
import { createDuePayments } from './due-payments.ts';
import type { SessionCloser } from './session-closer.ts';

/** Calls to providers at a time. */
const concurrency = 5;
/** Slow methods settle within two weeks; past it a payment that no provider can look up has expired. */
const giveUpMs = 30 * 24 * 60 * 60 * 1000;

export interface SweepDeps {
  database: Database;
  payments: Payments;
  accounts: ProviderAccounts;
  lookups: Lookups;
  refunds: Refunds;
  sessionCloser: SessionCloser;
  paidRecords: PaidRecords;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

/**
 * Looks up open payments at their providers, gives back what could not be sold, tells of paid records
 * again, and deletes rows that crashes left without a session.
 */
export const createSweep = (deps: SweepDeps) => {
  const { database, payments, accounts, lookups, refunds, sessionCloser } = deps;
  const { paidRecords, now, log } = deps;
  const duePayments = createDuePayments(database, now);

  /** No caller knows its session, if there is one: the same idempotency key finds it, to close it. */
  const deleteUnrecorded = async (row: PaymentRow): Promise<void> => {
    const account = await accounts.find(row);
    if (account && row.expires_at.getTime() > now()) {
      try {
        const { sessionId } = await account.create(toOrder(row));
        await account.expire(toProviderPayment(row, sessionId));
      } catch (error) {
        if (!(error instanceof OrderRefused)) throw error;
      }
    }
    await payments.deleteUnrecorded(row.project_number, row.id);
  };

  const checkSession = async (row: PaymentRow): Promise<void> => {
    try {
      if (await sessionCloser.closeIfOver(row))
        await payments.advance(row.project_number, row.id, { status: 'expired' });
    } finally {
      // It may have been paid all the same.
      await lookups.update(row);
    }
  };

  /** Never throws for the provider's sake: one payment's failure must not stop the others' checks. */
  const check = async (row: PaymentRow): Promise<void> => {
    try {
      if (row.status === 'refunding') await refunds.giveBack(row.project_number, row.id);
      else if (row.session_id === null) await deleteUnrecorded(row);
      else await checkSession(row);
    } catch (err) {
      log.warn({ err, paymentId: row.id }, 'payment check failed; a later sweep retries');
    }
    if (row.expires_at.getTime() + giveUpMs <= now())
      await payments.advance(row.project_number, row.id, { status: 'expired' });
  };

  return async (): Promise<void> => {
    for (const status of ['refunding', 'open'] as const)
      for await (const rows of duePayments.claim(status))
        await pMap(rows, (row) => database.inProject(row.project_number, () => check(row)), {
          concurrency,
        });
    await refunds.finishPending();
    await paidRecords.requestAgain();
  };
};
