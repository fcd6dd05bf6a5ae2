import { text } from '@backlot/contract';
import { z } from 'zod';
import type { SessionState } from '../provider/provider.ts';

/** Of any of Stripe's objects: 255 characters at most, as its documentation says. */
export const stripeId = text(1, 255);

const named = z.object({ id: stripeId });
const charge = named.extend({ refunded: z.boolean() });
const paymentIntent = named.extend({
  status: z.string(),
  latest_charge: z.union([stripeId, charge]).nullish(),
  last_payment_error: z.unknown().optional(),
});

/** What is read of a checkout session, whether retrieved or sent by a webhook. */
export const session = named.extend({
  status: z.string().nullish(),
  payment_status: z.string(),
  payment_intent: z.union([stripeId, paymentIntent]).nullish(),
  client_reference_id: z.string().nullish(),
});
export type StripeSession = z.infer<typeof session>;

/** The payment intent: refunds are made by it. */
export const readChargeId = ({ payment_intent: intent }: StripeSession): string | null =>
  (typeof intent === 'string' ? intent : intent?.id) ?? null;

const isRefunded = ({ payment_intent: intent }: StripeSession): boolean =>
  typeof intent === 'object' &&
  typeof intent?.latest_charge === 'object' &&
  intent?.latest_charge?.refunded === true;

/** The money of a slow method was on its way and did not arrive. */
const hasFailed = ({ payment_intent: intent }: StripeSession): boolean =>
  typeof intent === 'object' &&
  intent !== null &&
  (intent.status === 'canceled' ||
    (intent.status === 'requires_payment_method' && Boolean(intent.last_payment_error)));

const readStatus = (stripeSession: StripeSession): SessionState['status'] => {
  if (
    stripeSession.payment_status === 'paid' ||
    stripeSession.payment_status === 'no_payment_required'
  )
    return isRefunded(stripeSession) ? 'refunded' : 'paid';
  if (stripeSession.status === 'expired') return 'expired';
  return stripeSession.status === 'complete' && hasFailed(stripeSession) ? 'failed' : 'open';
};

export const readSessionState = (stripeSession: StripeSession): SessionState => ({
  status: readStatus(stripeSession),
  chargeId: readChargeId(stripeSession),
});
