import { z } from 'zod';
import type { PaymentReference, PaymentUpdate } from '../payments/payments.ts';
import {
  readChargeId,
  readSessionState,
  type StripeSession,
  session,
  stripeId,
} from '../stripe/stripe-session.ts';

/** Events signed longer ago, or further ahead, are refused: they may have been recorded for a replay. */
const toleranceSeconds = 300;

/** No secret that is valid has signed this, or not at this time. */
export class SignatureInvalid extends Error {
  override readonly name = 'SignatureInvalid';
}

export interface WebhookUpdate extends PaymentUpdate {
  /** The first one that is known counts. */
  references: PaymentReference[];
  sessionId: string | null;
  chargeId: string | null;
  /** Whether it is about real money; undefined where the event does not say. */
  livemode: boolean | undefined;
}

export interface WebhookSecrets {
  current: string | null;
  replaced: string | null;
}

export interface WebhookEvent {
  /** A secret that is replaced signed it: it is a reason to ask the provider, and says nothing itself. */
  isDoubtful: boolean;
  /** Stripe's own always have one. */
  id: string | undefined;
  /** Undefined where the event changes no payment. */
  update: WebhookUpdate | undefined;
}

const envelope = z.object({
  id: stripeId.optional(),
  type: z.string(),
  livemode: z.boolean().optional(),
  data: z.object({ object: z.unknown() }),
});
const charge = z.object({
  refunded: z.boolean(),
  payment_intent: stripeId.nullish(),
  metadata: z.object({ backlot_payment: z.string().optional() }).nullish(),
});

type SentUpdate = Omit<WebhookUpdate, 'livemode'>;

const sessionUpdate = (
  stripeSession: StripeSession,
  status: PaymentUpdate['status'],
): SentUpdate => {
  const { id: sessionId, client_reference_id: paymentId } = stripeSession;
  return {
    status,
    references: [{ sessionId }, ...(paymentId == null ? [] : [{ id: paymentId }])],
    sessionId,
    chargeId: readChargeId(stripeSession),
  };
};

/** Of a session as it was when the event was made. */
const readSessionUpdate = (type: string, object: unknown): SentUpdate | undefined => {
  const stripeSession = session.safeParse(object).data;
  if (!stripeSession) return undefined;
  switch (type) {
    case 'checkout.session.completed': {
      // Complete and unpaid: the money of a slow method is on its way.
      const { status } = readSessionState(stripeSession);
      return status === 'paid' ? sessionUpdate(stripeSession, status) : undefined;
    }
    case 'checkout.session.async_payment_succeeded':
      return sessionUpdate(stripeSession, 'paid');
    case 'checkout.session.async_payment_failed':
      return sessionUpdate(stripeSession, 'failed');
    case 'checkout.session.expired':
      return sessionUpdate(stripeSession, 'expired');
    default:
      return undefined;
  }
};

const readRefundUpdate = (object: unknown): SentUpdate | undefined => {
  const stripeCharge = charge.safeParse(object).data;
  // A partial refund made at Stripe leaves the payment paid.
  if (!stripeCharge?.refunded) return undefined;
  const { payment_intent: chargeId, metadata } = stripeCharge;
  return {
    status: 'refunded',
    references: [
      ...(metadata?.backlot_payment === undefined ? [] : [{ id: metadata.backlot_payment }]),
      ...(chargeId == null ? [] : [{ chargeId }]),
    ],
    sessionId: null,
    chargeId: chargeId ?? null,
  };
};

/** The SDK refuses old timestamps and accepts future ones. Parsed as the SDK parses the header. */
const isFromFuture = (signature: string, now: number): boolean =>
  signature
    .split(',')
    .map((field) => field.split('='))
    .some(
      ([name, value = '']) =>
        name === 't' && Number.parseInt(value, 10) > now / 1000 + toleranceSeconds,
    );

const isSignedBy = async (
  text: string,
  signature: string,
  secret: string | null,
  now: number,
): Promise<boolean> => {
  if (secret === null) return false;
  const { Stripe } = await import('stripe');
  try {
    Stripe.webhooks.constructEvent(text, signature, secret, toleranceSeconds, undefined, now);
    return true;
  } catch {
    // It also throws at headers that it can't read.
    return false;
  }
};

/**
 * @param text the body as it came
 * @throws SignatureInvalid
 */
export const readWebhookEvent = async (
  text: string,
  signature: string | undefined,
  { current, replaced }: WebhookSecrets,
  now: number,
): Promise<WebhookEvent> => {
  const isTimely = signature !== undefined && !isFromFuture(signature, now);
  const isCertain = isTimely && (await isSignedBy(text, signature, current, now));
  const isDoubtful = !isCertain && isTimely && (await isSignedBy(text, signature, replaced, now));
  const event = isCertain || isDoubtful ? envelope.safeParse(JSON.parse(text)).data : undefined;
  if (!event) throw new SignatureInvalid();
  const { id, type, livemode, data } = event;
  const update =
    type === 'charge.refunded'
      ? readRefundUpdate(data.object)
      : readSessionUpdate(type, data.object);
  return { id, isDoubtful, update: update && { ...update, livemode } };
};
