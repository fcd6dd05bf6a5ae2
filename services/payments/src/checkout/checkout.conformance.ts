import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { type Checkout, type Order, type Session, SessionUnknown, type Sold } from './checkout.ts';

export interface CheckoutUnderTest {
  checkout: Checkout;
  /** What the payer does. */
  pay(sessionId: string): Promise<unknown>;
  close(): Promise<void>;
}

export const anOrder = (changes: Partial<Order> = {}): Order => ({
  paymentId: uuidv7(),
  project: { id: 'testproject', number: 1001 },
  userId: '018f0000-0000-7000-8000-00000000dddd',
  items: [
    { name: 'Mug', amount: 1999, quantity: 2 },
    { name: 'Ünïcode “mug” & [brackets]', amount: 0, quantity: 1 },
  ],
  currency: 'usd',
  metadata: { orderId: 'o-1' },
  returnUrl: 'https://shop.example/thanks?from=cart#top',
  expiresAt: new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000),
  ...changes,
});

export const soldBy = (order: Order, session: Session, chargeId: string | null = null): Sold => ({
  paymentId: order.paymentId,
  project: order.project,
  sessionId: session.sessionId,
  chargeId,
});

/** What every adapter keeps to. */
export const describeCheckout = (name: string, start: () => Promise<CheckoutUnderTest>): void => {
  describe(`${name} as a checkout`, () => {
    let given: CheckoutUnderTest;
    beforeAll(async () => {
      given = await start();
    });
    afterAll(() => given.close());

    const sell = async () => {
      const order = anOrder();
      const session = await given.checkout.create(order);
      return { session, sold: soldBy(order, session) };
    };

    it('opens a session where somebody can pay', async () => {
      const { session, sold } = await sell();
      expect(session).toEqual({
        sessionId: expect.stringMatching(/^cs_.{10,}/),
        url: expect.stringMatching(/^https?:\/\//),
      });
      expect(await given.checkout.retrieve(sold)).toEqual({ status: 'open', chargeId: null });
    });

    it('opens one session for one payment, however often it is asked', async () => {
      const order = anOrder();
      const sessions = await Promise.all([1, 2, 3].map(() => given.checkout.create(order)));
      sessions.push(await given.checkout.create(order));
      expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect((await sell()).session.sessionId).not.toBe(sessions[0]?.sessionId);
    });

    it('knows what was paid, and by which charge', async () => {
      const { session, sold } = await sell();
      await given.pay(session.sessionId);
      expect(await given.checkout.retrieve(sold)).toEqual({
        status: 'paid',
        chargeId: expect.any(String),
      });
    });

    it('closes an open session, and leaves a paid one', async () => {
      const open = await sell();
      await given.checkout.expire(open.sold);
      await given.checkout.expire(open.sold);
      await given.pay(open.session.sessionId);
      expect(await given.checkout.retrieve(open.sold)).toMatchObject({ status: 'expired' });

      const paid = await sell();
      await given.pay(paid.session.sessionId);
      await given.checkout.expire(paid.sold);
      expect(await given.checkout.retrieve(paid.sold)).toMatchObject({ status: 'paid' });
    });

    it('gives back what was paid, however often it is asked', async () => {
      const { session, sold } = await sell();
      await given.pay(session.sessionId);
      const { chargeId } = await given.checkout.retrieve(sold);
      await Promise.all([1, 2, 3].map(() => given.checkout.refund({ ...sold, chargeId })));
      await given.checkout.refund(sold);
      expect(await given.checkout.retrieve(sold)).toMatchObject({ status: 'refunded' });
    });

    it('gives nothing back of what was not paid', async () => {
      const { sold } = await sell();
      await expect(given.checkout.refund(sold)).rejects.toThrow(SessionUnknown);
    });

    it('knows no session that it did not open', async () => {
      const sold = { ...(await sell()).sold, paymentId: uuidv7(), sessionId: 'cs_test_made-up' };
      await expect(given.checkout.retrieve(sold)).rejects.toThrow(SessionUnknown);
      await expect(given.checkout.expire(sold)).rejects.toThrow(SessionUnknown);
      await expect(given.checkout.refund(sold)).rejects.toThrow(SessionUnknown);
    });
  });
};
