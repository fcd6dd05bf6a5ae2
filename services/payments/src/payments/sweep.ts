import { createQueries, type Database, deleteExpired } from '@backlot/database';
import { sql } from 'kysely';
import pMap from 'p-map';
import type { Checkouts } from '../checkout/checkouts.ts';
import { OrderRefused } from '../checkout/provider.ts';
import type { ProviderAccounts } from '../checkout/provider-accounts.ts';
import type { PaidRecords } from '../on-paid/paid-records.ts';
import type { DB as Tables } from '../tables.ts';
import { type PaymentRow, type PaymentValues, toOrder, toProviderPayment } from './payment-row.ts';
import type { Payments } from './payments.ts';
import type { SessionCloser } from './session-closer.ts';

const batchSize = 50;
const maxBatches = 20;
/** Calls to providers at a time. */
const concurrency = 5;
/** Stripe repeats an event for three days. */
const eventRetentionMs = 30 * 24 * 60 * 60 * 1000;
/** Slow methods settle within two weeks; past it a payment that no provider can look up has expired. */
const giveUpMs = 30 * 24 * 60 * 60 * 1000;

export interface SweepDeps {
  database: Database;
  payments: Payments;
  accounts: ProviderAccounts;
  checkouts: Checkouts;
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
  const { database, payments, accounts, checkouts, sessionCloser, paidRecords, now, log } = deps;
  const queries = createQueries<Tables>(database);

  /** The next check comes later and later: 10 minutes, 20 minutes, up to 6 hours. */
  const claimDuePayments = () => {
    const at = new Date(now());
    return queries
      .updateTable('payments')
      .set((payment) => ({
        checks: payment('checks', '+', 1),
        check_at: sql`${at}::timestamptz + least(interval '10 minutes' * 2 ^ least(checks, 6), interval '6 hours')`,
      }))
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('project_number', 'id'),
          'in',
          selectFrom('payments')
            .select(['project_number', 'id'])
            .where('status', 'in', ['open', 'refunding'])
            .where('check_at', '<=', at)
            .orderBy('check_at')
            .limit(batchSize)
            .forUpdate()
            .skipLocked()
            .$asTuple('project_number', 'id'),
        ),
      )
      .returningAll()
      .$narrowType<PaymentValues>()
      .execute();
  };

  /** No caller knows its session, if there is one: the same idempotency key finds it, to close it. */
  const deleteUnrecorded = async (row: PaymentRow): Promise<void> => {
    const account = await accounts.find(row.project_number, row.provider);
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
      await sessionCloser.closeIfProjectDeleted(row);
    } finally {
      // It may have been paid all the same.
      await checkouts.updateFromProvider(row);
    }
  };

  /** Never throws for the provider's sake: one payment's failure must not stop the others' checks. */
  const check = async (row: PaymentRow): Promise<void> => {
    try {
      if (row.status === 'refunding') await checkouts.refund(row.project_number, row.id);
      else if (row.session_id === null) await deleteUnrecorded(row);
      else await checkSession(row);
    } catch (err) {
      log.warn({ err, paymentId: row.id }, 'payment check failed; a later sweep retries');
    }
    if (row.expires_at.getTime() + giveUpMs <= now())
      await payments.advance(row.project_number, row.id, { status: 'expired' });
  };

  return async () => {
    for (let batch = 0; batch < maxBatches; batch++) {
      const rows = await claimDuePayments();
      await pMap(rows, (row) => database.inProject(row.project_number, () => check(row)), {
        concurrency,
      });
      if (rows.length < batchSize) break;
    }
    await paidRecords.requestAgain();
    return await deleteExpired(database, [
      {
        ...{ table: 'heard_events', condition: 'heard_at < $1' },
        values: [new Date(now() - eventRetentionMs)],
      },
    ]);
  };
};
