import { anonymous, type ServiceUnderTest, serveForTest } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { secretKey, startTestStripe, type TestStripe } from '../testing/test-stripe.ts';

const webhookSecret = 'whsec_emulated';

/** The emulator's webhooks reach the service as they were sent and signed. */
describe('a payment by Stripe from checkout to webhook', () => {
  let bed: TestBed;
  let stripe: TestStripe;
  let endpoint: ServiceUnderTest;
  const received: [type: string, status: number][] = [];
  beforeAll(async () => {
    endpoint = await serveForTest(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      const answer = await bed.webhook(body, String(req.headers['stripe-signature']));
      received.push([JSON.parse(body).type, answer.status]);
      res.end();
    });
    stripe = await startTestStripe({ url: endpoint.url, secret: webhookSecret });
    bed = await createTestBed({ stripe: { url: stripe.url } });
    const keys = { secretKey, webhookSecret };
    expect(await bed.owner('PUT', '/secrets/stripe', keys)).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await bed.close();
    await stripe.close();
    await endpoint.stop();
  });
  const findStatus = async (sessionId: string) => {
    const { body } = await bed.owner('GET', '/payments');
    const found = body.items.find(
      (payment: { sessionId: string }) => payment.sessionId === sessionId,
    );
    return found.status;
  };

  it('is paid by a signed webhook alone, and by nothing before it', async () => {
    const sessionId = await bed.session();
    expect(sessionId).toMatch(/^cs_/);
    expect(await findStatus(sessionId)).toBe('open');
    const landing = await stripe.pay(sessionId);
    expect(landing).toBe(`http://localhost:3000/thanks?from=cart&session_id=${sessionId}#top`);
    expect(received.at(-1)).toEqual(['checkout.session.completed', 200]);
    expect(await findStatus(sessionId)).toBe('paid');
    expect((await bed.take('payment.changed')).map(({ status }) => status)).toEqual(['paid']);

    const { body } = await bed.verify(sessionId, anonymous());
    expect(body).toMatchObject({ paid: true, payment: { amount: 4248, currency: 'usd' } });
    const refund = await bed.owner('POST', `/payments/${body.payment.id}/refund`);
    expect(refund).toMatchObject({ status: 200, body: { status: 'refunded' } });
    expect(stripe.refunds).toEqual([sessionId]);
  });

  it('answers signed events about anything else with 200', async () => {
    await bed.session();
    expect(received.filter(([type]) => type === 'price.created').at(-1)?.[1]).toBe(200);
    expect(new Set(received.map(([, status]) => status))).toEqual(new Set([200]));
  });
});
