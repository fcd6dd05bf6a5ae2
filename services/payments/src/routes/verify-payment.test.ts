import { paymentRoutes } from '@backlot/contract';
import { anonymous, asKey, asOperator, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, order, otherProject, type TestBed } from '../testing/test-bed.ts';

describe('verifyPayment', () => {
  let bed: TestBed;
  let sessionId: string;
  beforeAll(async () => {
    bed = await createTestBed();
    sessionId = await bed.session();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    paymentRoutes.verifyPayment,
    () => bed.http,
    () => ({ path: `/payments/verify?session_id=${sessionId}` }),
  );

  it('shows an open payment, then a paid one', async () => {
    const session = await bed.session();
    const open = await bed.verify(session);
    expect(open).toMatchObject({ status: 200, body: { paid: false } });
    expect(open.body.payment).toEqual({
      id: expect.any(String),
      onPaid: null,
      refundReason: null,
      refundedAmount: 0,
      refunds: [],
      closedReason: null,
      latePaidAt: null,
      sessionId: session,
      status: 'open',
      livemode: false,
      amount: 4248,
      currency: 'usd',
      items: [
        { name: 'Mug', amount: 1999, quantity: 2 },
        { name: 'Sticker', amount: 250, quantity: 1 },
      ],
      metadata: { orderId: 'o-1' },
      createdAt: expect.any(String),
      paidAt: null,
    });
    expect((await bed.verify(open.body.payment.id)).body).toEqual(open.body);
    expect(await bed.press(session, 'pay')).toMatchObject({ status: 303 });
    const paid = await bed.verify(session);
    expect(paid.body).toMatchObject({
      paid: true,
      payment: { status: 'paid', paidAt: expect.any(String) },
    });
    expect(await bed.take('payment.changed')).toEqual([
      {
        projectId: 'testproject',
        projectNumber: 1001,
        paymentId: paid.body.payment.id,
        status: 'paid',
      },
    ]);
  });

  it('shows the payment to the user who opened it, the owner and keys, and to others whether it was paid', async () => {
    const payer = asUser('018f0000-0000-7000-8000-00000000dddd');
    const other = asUser('018f0000-0000-7000-8000-00000000eeee');
    const session = await bed.session(order, payer);
    await bed.press(session, 'pay');
    const { body } = await bed.verify(session, payer);
    expect(body.payment.metadata).toEqual({ orderId: 'o-1' });
    for (const reference of [session, body.payment.id]) {
      for (const identity of [payer, asOwner(), asKey(), asOperator()])
        expect((await bed.verify(reference, identity)).body).toEqual(body);
      for (const identity of [other, anonymous()])
        expect((await bed.verify(reference, identity)).body).toEqual({ paid: true });
    }
    const project = { projectId: 'testproject', projectNumber: 1001 };
    await bed.service.start();
    const merged = { ...project, guestId: payer.userId, userId: other.userId };
    await bed.bus.publish({ id: 'merged', topic: 'user.merged', payload: merged });
    expect((await bed.verify(session, other)).body).toEqual(body);
    expect((await bed.verify(session, payer)).body).toEqual({ paid: true });
    const erased = { ...project, userId: other.userId };
    await bed.bus.publish({ id: 'erased', topic: 'user.erased', payload: erased });
    expect((await bed.verify(session)).body).toEqual({ paid: true });
    await bed.service.stop();
  });

  it('shows what nobody signed in opened to who holds its session, which no record shows', async () => {
    const recordId = '018f0000-0000-7000-8000-00000000aaaa';
    await bed.owner('PUT', '/on-paid/order', { collection: 'orders', set: {}, pays: 'items' });
    await bed.call('PUT', '/products/mug', {
      identity: asKey(),
      body: { name: 'Mug', amount: 1 },
    });
    const onPaid = { rule: 'order', recordId };
    const session = await bed.session({ ...order, items: [{ product: 'mug' }], onPaid });
    const { id } = (await bed.verify(session)).body.payment;
    expect((await bed.verify(id)).body.payment.id).toBe(id);
    await bed.press(session, 'pay');
    const [told] = await bed.take('record.paid');
    expect(JSON.stringify(told)).not.toContain(session);
    expect((await bed.verify(session)).body).toMatchObject({
      paid: true,
      payment: { metadata: { orderId: 'o-1' } },
    });
    expect((await bed.verify(told?.payment.sessionId ?? '')).body).toEqual({ paid: true });
  });

  it('notices the end of a session, once', async () => {
    const session = await bed.session();
    bed.clock.pass(24 * 60 * 60 * 1000);
    const answers = await Promise.all([1, 2, 3].map(() => bed.verify(session)));
    for (const { body } of answers)
      expect(body).toMatchObject({ paid: false, payment: { status: 'expired' } });
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'expired' }]);
    expect(await bed.press(session, 'pay')).toMatchObject({ status: 409 });
    expect((await bed.verify(session)).body.paid).toBe(false);
  });

  it("knows no other project's session", async () => {
    const session = await bed.session();
    const stranger = anonymous({ project: otherProject });
    expect(await bed.verify(session, stranger)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('shows nothing of a payment whose session was never recorded', async () => {
    const session = await bed.session(order);
    const id = (await bed.verify(session)).body.payment.id;
    await bed.database.query('UPDATE payments SET session_id = NULL WHERE id = $1', [id]);
    expect(await bed.verify(session)).toMatchObject({ status: 404 });
    const { body } = await bed.owner('GET', '/payments');
    expect(body.items.map((payment: { id: string }) => payment.id)).not.toContain(id);
  });

  it('answers 404 for a made-up session and 400 without one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (made) => {
        const { status } = await bed.verify(made);
        expect(status).toBe(made.length === 0 || made.length > 255 ? 400 : 404);
      }),
      { numRuns: 50 },
    );
    expect(await bed.http.call('GET', '/payments/verify', { identity: anonymous() })).toMatchObject(
      { status: 400, body: { code: 'invalid_query' } },
    );
  });
});
