import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { PaymentRow } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { DB as Tables } from '../tables.ts';
import type { StripeKeyStore } from './stripe-keys.ts';
import { readWebhookEvent, SignatureInvalid, type WebhookUpdate } from './webhook-event.ts';

export interface WebhooksDeps {
  database: Database;
  payments: Payments;
  stripeKeys: StripeKeyStore;
  now: () => number;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** What Stripe tells by itself: signed, in any order, and counted once. */
export const createWebhooks = ({ database, payments, stripeKeys, now }: WebhooksDeps) => {
  const queries = createQueries<Tables>(database);

  const readEvent = async (projectNumber: number, text: string, signature: string | undefined) => {
    const secrets = await stripeKeys.readWebhookSecrets(projectNumber);
    try {
      return await readWebhookEvent(text, signature, secrets, now());
    } catch (cause) {
      if (!(cause instanceof SignatureInvalid)) throw cause;
      throw new ApiError('invalid_signature', 'No webhook secret of the project signed this.', {
        cause,
      });
    }
  };

  /** A session of another payment is never taken for this one's. */
  const matches = (row: PaymentRow, { sessionId }: WebhookUpdate) =>
    row.provider === 'stripe' &&
    (sessionId === null || row.session_id === null || row.session_id === sessionId);

  const findPayment = async (
    projectNumber: number,
    update: WebhookUpdate,
  ): Promise<PaymentRow | undefined> => {
    for (const reference of update.references) {
      const row = await payments.find(projectNumber, reference);
      if (row && matches(row, update)) return row;
    }
    return undefined;
  };

  const isFirstDelivery = async (projectNumber: number, eventId: string): Promise<boolean> => {
    const { numInsertedOrUpdatedRows: inserted } = await queries
      .insertInto('heard_events')
      .values({ project_number: projectNumber, event_id: eventId, heard_at: new Date(now()) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return inserted !== 0n;
  };

  return {
    /** @param text the body as it came. @throws ApiError invalid_signature */
    async receive(projectNumber: number, text: string, signature: string | undefined) {
      const { id, update } = await readEvent(projectNumber, text, signature);
      if (!update) return;
      await database.transaction(async () => {
        if (id !== undefined && !(await isFirstDelivery(projectNumber, id))) return;
        const row = await findPayment(projectNumber, update);
        if (row) await payments.advance(projectNumber, row.id, update);
      });
    },
  };
};
