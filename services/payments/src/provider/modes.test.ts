import { asKey } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createStripeBed,
  eventText,
  type StripeBed,
  signature,
  webhookSecret,
  webhookSession,
} from '../testing/stripe-bed.ts';
import { returnUrl } from '../testing/test-bed.ts';
import { liveKey, secretKey } from '../testing/test-stripe.ts';

const path = '/secrets/stripe';
const liveSecret = 'whsec_live';
const recordId = '018f0000-0000-7000-8000-00000000aaaa';
const item = { items: [{ product: 'mug' }], returnUrl, onPaid: { rule: 'order', recordId } };
const minuteMs = 60_000;

let bed: StripeBed;
afterEach(() => bed.close());

const setUp = async () => {
  bed = await createStripeBed();
  const mug = { name: 'Mug', amount: 1999, stock: 5 };
  await bed.call('PUT', '/products/mug', { identity: asKey(), body: mug });
  const rule = { collection: 'orders', set: { status: 'paid' }, pays: 'items' };
  await bed.owner('PUT', '/on-paid/order', rule);
};
const chooseTestCheckout = async () => {
  await bed.owner('DELETE', path);
  await bed.owner('PUT', path, { testCheckout: true });
};
const goLive = async () => {
  const keys = { secretKey: liveKey, webhookSecret: liveSecret };
  expect(await bed.owner('PUT', path, keys)).toMatchObject({ status: 200 });
};
const paymentOf = async (sessionId: string) => {
  const { items } = (await bed.call('GET', '/payments', { identity: asKey() })).body;
  return items.find((payment: { sessionId: string }) => payment.sessionId === sessionId);
};
const sendSigned = (secret: string, sessionId: string, livemode: boolean | undefined) => {
  const seed = { type: 'checkout.session.completed', object: webhookSession(sessionId) };
  const text = JSON.stringify({ ...JSON.parse(eventText(seed)), livemode });
  return bed.webhook(text, signature(text, secret, bed.clock.now()));
};
const expectNothingPaid = async (sessionId: string, more: object = {}) => {
  expect(await paymentOf(sessionId)).toMatchObject({
    status: 'expired',
    paidAt: null,
    closedReason: 'mode_changed',
    ...more,
  });
  expect((await bed.verify(sessionId)).body.paid).toBe(false);
  const { body } = await bed.call('GET', '/products/mug', { identity: asKey() });
  expect(body.stock).toBe(5);
  expect(await bed.take('record.paid')).toEqual([]);
};

describe('a session that was opened in another mode', () => {
  it('of the test checkout pays nothing once the project has keys, and its page says so', async () => {
    await setUp();
    await chooseTestCheckout();
    const sessionId = await bed.session(item);
    await goLive();
    for (const action of ['pay', 'cancel', 'pay']) {
      const answer = await bed.press(sessionId, action);
      expect(answer).toMatchObject({ status: 409, body: expect.stringContaining('Closed') });
    }
    await expectNothingPaid(sessionId, { livemode: false });
    await bed.service.sweep();
    await expectNothingPaid(sessionId);
  });

  it('pays nothing by the page, also where it was opened while the keys changed', async () => {
    await setUp();
    await chooseTestCheckout();
    const sessionId = await bed.session(item);
    await goLive();
    await bed.database.query('UPDATE payments SET closed_reason = NULL');
    expect(await bed.press(sessionId, 'pay')).toMatchObject({ status: 409 });
    expect(await paymentOf(sessionId)).toMatchObject({ status: 'open', paidAt: null });
  });

  it.each([
    ['the replaced secret', webhookSecret, false],
    ['the replaced secret, for real money', webhookSecret, true],
    ['the present secret', liveSecret, false],
    ['the present secret, without a mode', liveSecret, undefined],
  ])('of test keys pays nothing by an event of %s', async (_what, secret, livemode) => {
    await setUp();
    const sessionId = await bed.session(item);
    await bed.stripe.pay(sessionId);
    await goLive();
    expect(await sendSigned(secret, sessionId, livemode)).toMatchObject({ status: 200 });
    const { latePaidAt } = await paymentOf(sessionId);
    // What is about real money is about another session.
    expect(latePaidAt).toEqual(livemode === true ? null : expect.any(String));
    await expectNothingPaid(sessionId);
  });

  it('of live keys pays nothing while the project takes play money, and the owner sees that it came', async () => {
    await setUp();
    await goLive();
    const sessionId = await bed.session(item);
    await bed.stripe.pay(sessionId);
    await bed.owner('PUT', path, { secretKey, webhookSecret });
    bed.clock.pass(minuteMs);
    await Promise.all([
      sendSigned(liveSecret, sessionId, true),
      bed.verify(sessionId),
      bed.service.sweep(),
    ]);
    await expectNothingPaid(sessionId, { livemode: true, latePaidAt: expect.any(String) });
    const late = await bed.owner('GET', '/payments?status=expired');
    expect(late.body.items).toHaveLength(1);
  });

  it('is closed at the provider by the keys of before', async () => {
    await setUp();
    const sessionId = await bed.session(item);
    await goLive();
    expect(await paymentOf(sessionId)).toMatchObject({ status: 'expired' });
    await bed.service.sweep();
    const [closed] = bed.stripe.requests.filter(({ path }) => path.endsWith('/expire'));
    expect(closed).toMatchObject({ path: expect.stringContaining(sessionId) });
    expect(closed?.headers.authorization).toBe(`Bearer ${secretKey}`);
    expect(await bed.database.query('SELECT status FROM payments')).toEqual([
      { status: 'expired' },
    ]);
  });

  it('is paid or closed, never both, where the keys change as the button is pressed', async () => {
    await setUp();
    for (let round = 0; round < 5; round++) {
      await chooseTestCheckout();
      const sessionId = await bed.session({ ...item, onPaid: undefined });
      const [pressed] = await Promise.all([bed.press(sessionId, 'pay'), goLive()]);
      const { status, closedReason } = await paymentOf(sessionId);
      expect([pressed.status, status, closedReason]).toEqual(
        pressed.status === 303 ? [303, 'paid', null] : [409, 'expired', 'mode_changed'],
      );
    }
  });
});

describe('keys of the same mode that replace others', () => {
  it('leave sessions open: an event of the replaced secret has the provider asked, and says nothing itself', async () => {
    await setUp();
    const [paid, unpaid] = [await bed.session(item), await bed.session(item)];
    await bed.owner('PUT', path, { secretKey, webhookSecret: 'whsec_second' });
    await bed.stripe.pay(paid);
    for (const sessionId of [paid, unpaid])
      expect(await sendSigned(webhookSecret, sessionId, false)).toMatchObject({ status: 200 });
    expect(await paymentOf(paid)).toMatchObject({ status: 'paid' });
    expect(await paymentOf(unpaid)).toMatchObject({ status: 'open', closedReason: null });
    await sendSigned('whsec_second', unpaid, false);
    expect(await paymentOf(unpaid)).toMatchObject({ status: 'paid' });
  });
});
