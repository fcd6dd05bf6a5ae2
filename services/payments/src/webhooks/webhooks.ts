import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import type { Lookups } from '../checkout/lookups.ts';
import type { PaymentRow } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { SettleInTurn } from '../payments/settle-in-turn.ts';
import { isSameMode, type Modes } from '../provider/modes.ts';
import type { StripeKeyStore } from '../stripe/stripe-keys.ts';
import type { DB as Tables } from '../tables.ts';
import { readWebhookEvent, SignatureInvalid, type WebhookUpdate } from './webhook-event.ts';

export interface WebhooksDeps {
  database: Database;
  payments: Payments;
  lookups: Lookups;
  modes: Modes;
  settleInTurn: SettleInTurn;
  stripeKeys: StripeKeyStore;
  now: () => number;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** What Stripe tells by itself: signed, in any order, and counted once. */
export const createWebhooks = (deps: WebhooksDeps) => {
  const { database, payments, lookups, modes, settleInTurn, stripeKeys, now } = deps;
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

  /** A session of another payment is never taken for this one's, nor is play money for real money. */
  const matches = (row: PaymentRow, { sessionId, livemode = row.livemode }: WebhookUpdate) =>
    row.provider === 'stripe' &&
    row.livemode === livemode &&
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

  const count = async (projectNumber: number, id: string | undefined, update: WebhookUpdate) => {
    if (id !== undefined && !(await isFirstDelivery(projectNumber, id))) return;
    const row = await findPayment(projectNumber, update);
    if (row) await payments.advance(projectNumber, row.id, update);
  };

  /** By the present keys, or those of before. What is of another mode was never paid: it only gets its note. */
  const lookUp = async (identity: Identity, update: WebhookUpdate): Promise<void> => {
    const { number: projectNumber } = identity.project;
    const row = await findPayment(projectNumber, update);
    if (!row) return;
    if (isSameMode(row, await modes.current(projectNumber))) await lookups.tryUpdate(identity, row);
    else if (update.status === 'paid') await payments.advance(projectNumber, row.id, update);
  };

  return {
    /** @param text the body as it came. @throws ApiError invalid_signature */
    async receive(identity: Identity, text: string, signature: string | undefined) {
      const { number: projectNumber } = identity.project;
      const { id, update, isDoubtful } = await readEvent(projectNumber, text, signature);
      if (!update) return;
      if (isDoubtful) await lookUp(identity, update);
      else await settleInTurn.run(toRequester(identity), () => count(projectNumber, id, update));
    },
  };
};
