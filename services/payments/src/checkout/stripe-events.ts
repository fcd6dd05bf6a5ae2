import { Stripe } from 'stripe';
import { z } from 'zod';
import type { PaymentName } from '../payments.ts';
import { chargeIdOf, type StripeSession, session, stateOf } from './stripe-session.ts';

/** Older and younger news are nobody's: both could be kept for later. */
const toleranceSeconds = 300;

/** No secret that is valid has signed this, or not at this time. */
export class SignatureInvalid extends Error {
  override readonly name = 'SignatureInvalid';
}

export interface News {
  status: 'paid' | 'failed' | 'expired' | 'refunded';
  /** The first one that is known counts. */
  names: PaymentName[];
  sessionId: string | null;
  chargeId: string | null;
}

export interface StripeEvent {
  /** Stripe's own always have one. */
  id: string | undefined;
  /** Undefined where the event changes no payment. */
  news: News | undefined;
}

const envelope = z.object({
  id: z.string().min(1).max(255).optional(),
  type: z.string(),
  data: z.object({ object: z.unknown() }),
});
const charge = z.object({
  refunded: z.boolean(),
  payment_intent: z.string().nullish(),
  metadata: z.object({ backlot_payment: z.string().optional() }).nullish(),
});

const newsOfSession = (found: StripeSession, status: News['status']): News => ({
  status,
  names: [
    { sessionId: found.id },
    ...(found.client_reference_id == null ? [] : [{ id: found.client_reference_id }]),
  ],
  sessionId: found.id,
  chargeId: chargeIdOf(found),
});

/** Of a session as it was when the event was made. */
const sessionNews = (type: string, object: unknown): News | undefined => {
  const found = session.safeParse(object).data;
  if (!found) return undefined;
  switch (type) {
    case 'checkout.session.completed': {
      // Complete and unpaid: the money of a slow method is on its way.
      const { status } = stateOf(found);
      return status === 'paid' ? newsOfSession(found, status) : undefined;
    }
    case 'checkout.session.async_payment_succeeded':
      return newsOfSession(found, 'paid');
    case 'checkout.session.async_payment_failed':
      return newsOfSession(found, 'failed');
    case 'checkout.session.expired':
      return newsOfSession(found, 'expired');
    default:
      return undefined;
  }
};

const refundNews = (object: unknown): News | undefined => {
  const found = charge.safeParse(object).data;
  // A part that was given back elsewhere leaves the payment paid.
  if (!found?.refunded) return undefined;
  const { payment_intent: chargeId, metadata } = found;
  return {
    status: 'refunded',
    names: [
      ...(metadata?.backlot_payment === undefined ? [] : [{ id: metadata.backlot_payment }]),
      ...(chargeId == null ? [] : [{ chargeId }]),
    ],
    sessionId: null,
    chargeId: chargeId ?? null,
  };
};

/** The SDK refuses what is old, and takes what is of the future. Read as it reads the header. */
const isOfFuture = (signature: string, now: number): boolean =>
  signature
    .split(',')
    .map((each) => each.split('='))
    .some(
      ([name, value = '']) =>
        name === 't' && Number.parseInt(value, 10) > now / 1000 + toleranceSeconds,
    );

const isSignedBy = (text: string, signature: string, secret: string, now: number): boolean => {
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
 * @param secrets any of them may have signed
 * @throws SignatureInvalid
 */
export const readStripeEvent = (
  text: string,
  signature: string | undefined,
  secrets: readonly string[],
  now: number,
): StripeEvent => {
  const isSigned =
    signature !== undefined &&
    !isOfFuture(signature, now) &&
    secrets.some((secret) => isSignedBy(text, signature, secret, now));
  const event = isSigned ? envelope.safeParse(JSON.parse(text)).data : undefined;
  if (!event) throw new SignatureInvalid();
  const { id, type, data } = event;
  const news =
    type === 'charge.refunded' ? refundNews(data.object) : sessionNews(type, data.object);
  return { id, news };
};
