import type { TestAnswer } from '@backlot/testing';
import { Stripe } from 'stripe';
import { createTestBed, type TestBed, type TestBedOptions } from './test-bed.ts';
import { secretKey, startTestStripe, type TestStripe } from './test-stripe.ts';

export const webhookSecret = 'whsec_first';

export interface StripeEventSeed {
  id?: string;
  type: string;
  object: Record<string, unknown>;
}

/** A header as Stripe signs, at a time in epoch milliseconds. */
export const signature = (payload: string, secret: string, at: number): string =>
  Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(at / 1000),
  });

let eventNumber = 0;
export const eventText = ({ id, type, object }: StripeEventSeed): string =>
  JSON.stringify({
    id: id ?? `evt_${++eventNumber}`,
    object: 'event',
    type,
    data: { object },
  });

/** A session as in webhooks. */
export const webhookSession = (sessionId: string, changes: Record<string, unknown> = {}) => ({
  id: sessionId,
  object: 'checkout.session',
  status: 'complete',
  payment_status: 'paid',
  payment_intent: `pi_of_${sessionId}`,
  client_reference_id: null,
  ...changes,
});

export interface StripeBed extends TestBed {
  stripe: TestStripe;
  /** Signed by the project's secret, at the present. */
  sendWebhook(event: StripeEventSeed | string): Promise<TestAnswer>;
}

/** A project with an account of its own. */
export const createStripeBed = async (options: TestBedOptions = {}): Promise<StripeBed> => {
  const stripe = await startTestStripe();
  const bed = await createTestBed({ ...options, stripe: { url: stripe.url, ...options.stripe } });
  const set = await bed.owner('PUT', '/secrets/stripe', { secretKey, webhookSecret });
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  return {
    ...bed,
    stripe,
    sendWebhook(event) {
      const text = typeof event === 'string' ? event : eventText(event);
      return bed.webhook(text, signature(text, webhookSecret, bed.clock.now()));
    },
    async close() {
      await bed.close();
      await stripe.close();
    },
  };
};
