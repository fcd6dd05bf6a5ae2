import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import {
  anOrder,
  describeProviderAccount,
  providerPayment,
} from '../provider/provider.conformance.ts';
import { OrderRefused } from '../provider/provider.ts';
import {
  narrowKey,
  readingKey,
  restrictedKey,
  secretKey,
  sellingKey,
  startTestStripe,
  type TestStripe,
} from '../testing/test-stripe.ts';
import { createStripe } from './stripe.ts';
import type { Stripe } from './stripe-client.ts';

describeProviderAccount('Stripe', async () => {
  const { url, pay, close } = await startTestStripe();
  const stripe = createStripe({ url, timeoutMs: 5000, retries: 1 });
  return { account: stripe.account(secretKey), pay, close };
});

describe('Stripe', () => {
  let stub: TestStripe;
  let stripe: Stripe;
  beforeAll(async () => {
    stub = await startTestStripe();
    stripe = createStripe({ url: stub.url, timeoutMs: 20_000, retries: 0 });
  });
  afterAll(() => stub.close());

  it('gets the items, ids, expiry and return addresses', async () => {
    const order = anOrder();
    await stripe.account(secretKey).create(order);
    const sent = stub.requests.at(-1);
    expect(sent?.headers['idempotency-key']).toBe(`backlot-checkout-${order.paymentId}`);
    const fields = Object.fromEntries(new URLSearchParams(sent?.body));
    expect(fields).toMatchObject({
      mode: 'payment',
      client_reference_id: order.paymentId,
      'metadata[orderId]': 'o-1',
      'metadata[backlot_project]': 'testproject',
      'metadata[backlot_payment]': order.paymentId,
      'metadata[backlot_user]': order.userId,
      'payment_intent_data[metadata][backlot_payment]': order.paymentId,
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '1999',
      'line_items[0][price_data][product_data][name]': 'Mug',
      'line_items[0][quantity]': '2',
      success_url: 'https://shop.example/thanks?from=cart&session_id={CHECKOUT_SESSION_ID}#top',
      cancel_url: `https://shop.example/thanks?from=cart&session_id=${order.paymentId}&canceled=1#top`,
      expires_at: String(order.expiresAt.getTime() / 1000),
    });
  });

  it('asks with the key of the project alone', async () => {
    await expect(stripe.account('sk_test_wrong').create(anOrder())).rejects.toMatchObject({
      reason: 'credentials',
    });
    await expect(stripe.account(narrowKey).create(anOrder())).rejects.toMatchObject({
      reason: 'credentials',
    });
  });

  it('opens nothing to a key that may not write what a checkout and a refund need', async () => {
    await stripe.check(secretKey);
    await stripe.check(restrictedKey);
    for (const key of [narrowKey, readingKey, sellingKey])
      await expect(stripe.check(key)).rejects.toMatchObject({
        name: 'ProviderFailed',
        reason: 'credentials',
      });
    expect(stub.refunds).toEqual([]);
  });

  it('gives up on silence, and repeats no text of Stripe', async () => {
    const patient = stripe.account(secretKey);
    const hurried = createStripe({ url: stub.url, timeoutMs: 200, retries: 0 }).account(secretKey);
    const order = anOrder();
    const payment = providerPayment(order, await patient.create(order));
    for (const [how, reason, account, options] of [
      ['silent', 'timeout', hurried, { timeoutMs: 100 }],
      ['failing', 'failed', patient, {}],
    ] as const) {
      stub.behave(how);
      const refund = { id: uuidv7(), amount: 100, isLast: false, mayExist: true };
      for (const question of [
        () => account.create(anOrder()),
        () => account.retrieve(payment, options),
        () => account.expire(payment),
        () => account.refund({ ...payment, chargeId: 'pi_1' }, refund),
      ]) {
        const error: unknown = await question().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'ProviderFailed', reason });
        expect(String(error)).not.toContain('secret');
      }
      stub.behave(null);
    }
  });

  it('says which field it refuses', async () => {
    stub.behave('too-small');
    const error: unknown = await stripe
      .account(secretKey)
      .create(anOrder())
      .catch((thrown: unknown) => thrown);
    stub.behave(null);
    expect(error).toBeInstanceOf(OrderRefused);
    expect(error).toMatchObject({ field: 'items' });
  });
});
