import type { Database } from '@backlot/database';
import { OrderRefused } from './checkout/checkout.ts';
import { type Checkouts, orderOf, soldOf } from './checkouts.ts';
import type { Closing } from './closing.ts';
import type { PaymentRow, Payments } from './payments.ts';
import type { Providers } from './providers.ts';

const batchSize = 50;
const maxBatches = 20;
/** Questions to providers at a time. */
const concurrency = 5;
/** Stripe repeats an event for three days; nobody repeats one that is older than this. */
const heardDays = 30;
/** Slow methods settle within two weeks; past it a payment that nobody can tell of has expired. */
const giveUpMs = 30 * 24 * 60 * 60 * 1000;

export interface SweepDeps {
  database: Database;
  payments: Payments;
  providers: Providers;
  checkouts: Checkouts;
  closing: Closing;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

/** Asks about payments of which nothing was heard, and ends those that crashes left behind. */
export const createSweep = (deps: SweepDeps) => {
  const { database, payments, providers, checkouts, closing, now, log } = deps;

  /** The next question comes later and later: 10 minutes, 20 minutes, up to 6 hours. */
  const claim = () =>
    database.query<PaymentRow>(
      `UPDATE payments SET checks = checks + 1,
              check_at = $1::timestamptz + least(interval '10 minutes' * 2 ^ least(checks, 6), interval '6 hours')
        WHERE (project_number, id) IN (
          SELECT project_number, id FROM payments WHERE status = 'open' AND check_at <= $1
           ORDER BY check_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [new Date(now()), batchSize],
    );

  /** Nobody was told of its session, if there is one: it is found by the same key and closed. */
  const abandon = async (row: PaymentRow): Promise<void> => {
    const checkout = await providers.checkoutOf(row.project_number, row.provider);
    if (checkout && row.expires_at.getTime() > now()) {
      try {
        const { sessionId } = await checkout.create(orderOf(row));
        await checkout.expire(soldOf(row, sessionId));
      } catch (error) {
        if (!(error instanceof OrderRefused)) throw error;
      }
    }
    await payments.forget(row.project_number, row.id);
  };

  const check = async (row: PaymentRow): Promise<void> => {
    try {
      await closing.closeIfGone(row);
    } finally {
      // It may have been paid all the same.
      await checkouts.ask(row);
    }
  };

  /** One that fails, for whatever reason, keeps no other from being asked about. */
  const settle = async (row: PaymentRow): Promise<void> => {
    try {
      if (row.session_id === null) await abandon(row);
      else await check(row);
    } catch (err) {
      log.warn({ err, paymentId: row.id }, 'a payment could not be checked');
    }
    if (row.expires_at.getTime() + giveUpMs <= now())
      await payments.advance(row.project_number, row.id, { status: 'expired' });
  };

  return async (): Promise<void> => {
    for (let batch = 0; batch < maxBatches; batch++) {
      const rows = await claim();
      for (let start = 0; start < rows.length; start += concurrency)
        await Promise.all(rows.slice(start, start + concurrency).map(settle));
      if (rows.length < batchSize) break;
    }
    await database.query(
      `DELETE FROM heard_events WHERE (project_number, event_id) IN (
         SELECT project_number, event_id FROM heard_events
          WHERE heard_at < $1::timestamptz - $2 * interval '1 day' LIMIT 10000)`,
      [new Date(now()), heardDays],
    );
  };
};
