import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import {
  type Order,
  type ProviderAccount,
  type ProviderPayment,
  type Session,
  SessionNotFound,
} from './provider.ts';

export interface AccountUnderTest {
  account: ProviderAccount;
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

export const providerPayment = (
  order: Order,
  session: Session,
  chargeId: string | null = null,
): ProviderPayment => ({
  paymentId: order.paymentId,
  project: order.project,
  sessionId: session.sessionId,
  chargeId,
});

/** What every adapter keeps to. */
export const describeProviderAccount = (
  name: string,
  start: () => Promise<AccountUnderTest>,
): void => {
  describe(`${name} as an account at a provider`, () => {
    let subject: AccountUnderTest;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(() => subject.close());

    const all = () => ({ id: uuidv7(), amount: null, isLast: true, mayExist: false });
    const sell = async () => {
      const order = anOrder();
      const session = await subject.account.create(order);
      return { session, payment: providerPayment(order, session) };
    };

    it('opens a session where somebody can pay', async () => {
      const { session, payment } = await sell();
      expect(session).toEqual({
        sessionId: expect.stringMatching(/^cs_.{10,}/),
        url: expect.stringMatching(/^https?:\/\//),
        livemode: false,
      });
      expect(await subject.account.retrieve(payment)).toEqual({ status: 'open', chargeId: null });
    });

    it('opens one session for one payment, however often it is asked', async () => {
      const order = anOrder();
      const sessions = await Promise.all([1, 2, 3].map(() => subject.account.create(order)));
      sessions.push(await subject.account.create(order));
      expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect((await sell()).session.sessionId).not.toBe(sessions[0]?.sessionId);
    });

    it('knows what was paid, and by which charge', async () => {
      const { session, payment } = await sell();
      await subject.pay(session.sessionId);
      expect(await subject.account.retrieve(payment)).toEqual({
        status: 'paid',
        chargeId: expect.any(String),
      });
    });

    it('closes an open session, and leaves a paid one', async () => {
      const open = await sell();
      await subject.account.expire(open.payment);
      await subject.account.expire(open.payment);
      await subject.pay(open.session.sessionId);
      expect(await subject.account.retrieve(open.payment)).toMatchObject({ status: 'expired' });

      const paid = await sell();
      await subject.pay(paid.session.sessionId);
      await subject.account.expire(paid.payment);
      expect(await subject.account.retrieve(paid.payment)).toMatchObject({ status: 'paid' });
    });

    it('gives back what was paid, however often it is asked', async () => {
      const { session, payment } = await sell();
      await subject.pay(session.sessionId);
      const { chargeId } = await subject.account.retrieve(payment);
      const refund = all();
      const again = { ...refund, mayExist: true };
      await Promise.all(
        [1, 2, 3].map(() => subject.account.refund({ ...payment, chargeId }, refund)),
      );
      await subject.account.refund(payment, again);
      expect(await subject.account.retrieve(payment)).toMatchObject({ status: 'refunded' });
    });

    it('gives a part back once for its id, and is refunded with the last part', async () => {
      const { session, payment } = await sell();
      await subject.pay(session.sessionId);
      const part = { id: uuidv7(), amount: 1000, isLast: false, mayExist: false };
      await Promise.all([1, 2, 3].map(() => subject.account.refund(payment, part)));
      await subject.account.refund(payment, { ...part, mayExist: true });
      expect(await subject.account.retrieve(payment)).toMatchObject({ status: 'paid' });
      const rest = { id: uuidv7(), amount: 2998, isLast: true, mayExist: false };
      await subject.account.refund(payment, rest);
      expect(await subject.account.retrieve(payment)).toMatchObject({ status: 'refunded' });
      await subject.account.refund(payment, { ...rest, mayExist: true });
    });

    it('gives nothing back of what was not paid', async () => {
      const { payment } = await sell();
      await expect(subject.account.refund(payment, all())).rejects.toThrow(SessionNotFound);
    });

    it('knows no session that it did not open', async () => {
      const payment = {
        ...(await sell()).payment,
        paymentId: uuidv7(),
        sessionId: 'cs_test_made-up',
      };
      await expect(subject.account.retrieve(payment)).rejects.toThrow(SessionNotFound);
      await expect(subject.account.expire(payment)).rejects.toThrow(SessionNotFound);
      await expect(subject.account.refund(payment, all())).rejects.toThrow(SessionNotFound);
    });
  });
};
