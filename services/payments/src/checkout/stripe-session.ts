import { z } from 'zod';
import type { SessionState } from './checkout.ts';

const named = z.object({ id: z.string() });
const charge = named.extend({ refunded: z.boolean() });
const paymentIntent = named.extend({
  status: z.string(),
  latest_charge: z.union([z.string(), charge]).nullish(),
  last_payment_error: z.unknown().optional(),
});

/** What is read of a checkout session, whether asked for or told by a webhook. */
export const session = named.extend({
  status: z.string().nullish(),
  payment_status: z.string(),
  payment_intent: z.union([z.string(), paymentIntent]).nullish(),
  client_reference_id: z.string().nullish(),
});
export type StripeSession = z.infer<typeof session>;

/** The payment intent: what a refund is asked for by. */
export const chargeIdOf = ({ payment_intent: intent }: StripeSession): string | null =>
  (typeof intent === 'string' ? intent : intent?.id) ?? null;

const isRefunded = ({ payment_intent: intent }: StripeSession): boolean =>
  typeof intent === 'object' &&
  typeof intent?.latest_charge === 'object' &&
  intent?.latest_charge?.refunded === true;

/** Money that was on its way and did not come. */
const hasFailed = ({ payment_intent: intent }: StripeSession): boolean =>
  typeof intent === 'object' &&
  intent !== null &&
  (intent.status === 'canceled' ||
    (intent.status === 'requires_payment_method' && Boolean(intent.last_payment_error)));

const statusOf = (found: StripeSession): SessionState['status'] => {
  if (found.payment_status === 'paid' || found.payment_status === 'no_payment_required')
    return isRefunded(found) ? 'refunded' : 'paid';
  if (found.status === 'expired') return 'expired';
  return found.status === 'complete' && hasFailed(found) ? 'failed' : 'open';
};

export const stateOf = (found: StripeSession): SessionState => ({
  status: statusOf(found),
  chargeId: chargeIdOf(found),
});
