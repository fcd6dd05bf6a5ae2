import { secretKey, startTestStripe, type TestStripe } from '@backlot/payments/test-stripe';
import { type ServiceUnderTest, serveForTest, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const webhookSecret = 'whsec_journey';
const order = {
  items: [{ name: 'Mug', amount: 1999, quantity: 2 }],
  returnUrl: 'http://localhost:3000/thanks',
};

describe.each(usualModes)('payments by an account of the project’s own (%s)', (mode) => {
  let platform: PlatformUnderTest;
  let stripe: TestStripe;
  let relay: ServiceUnderTest;
  let projectId = '';
  beforeAll(async () => {
    relay = await serveForTest(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      const target = `${platform.url}/api/runtime/${projectId}/payments/webhook`;
      const { 'stripe-signature': signature = '', 'content-type': type = '' } = req.headers;
      const headers = { 'content-type': type, 'stripe-signature': String(signature) };
      const answer = await fetch(target, { method: 'POST', headers, body });
      res.writeHead(answer.status).end();
    });
    stripe = await startTestStripe({ url: relay.url, secret: webhookSecret });
    platform = await platformUnderTest(mode, { BACKLOT_STRIPE_URL: stripe.url });
  });
  afterAll(async () => {
    await platform.stop();
    await stripe.close();
    await relay.stop();
  });

  it('go from the owner’s keys to a signed webhook and a refund', async () => {
    const { id, owner, api } = await platform.newProject();
    projectId = id;
    const { token } = owner;
    const secrets = `/projects/${id}/secrets/stripe`;
    const body = { secretKey, webhookSecret };
    expect(await platform.control('PUT', secrets, { token, body })).toMatchObject({
      status: 200,
      body: { name: 'stripe', mode: 'test' },
    });

    const checkout = await api('POST', '/payments/checkout', { body: order });
    expect(checkout).toMatchObject({ status: 200, body: { sessionId: expect.any(String) } });
    await stripe.pay(checkout.body.sessionId);
    const books = () => platform.control('GET', `/projects/${id}/payments`, { token });
    const paid = await until(async () => {
      const [first] = (await books()).body.items;
      return first.status === 'paid' && first;
    });
    const path = `/payments/verify?session_id=${checkout.body.sessionId}`;
    expect((await api('GET', path)).body).toMatchObject({ paid: true, payment: { id: paid.id } });

    const refund = `/projects/${id}/payments/${paid.id}/refund`;
    expect((await platform.control('POST', refund, { token })).body.status).toBe('refunded');
    expect(stripe.refunds).toEqual([checkout.body.sessionId]);
  });
});
