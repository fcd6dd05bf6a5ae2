import { paymentRoutes } from '@backlot/contract';
import { asKey, asOperator, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { createTestBed, otherProject, returnUrl, type TestBed } from '../testing/test-bed.ts';
import { secretKey } from '../testing/test-stripe.ts';

const findPaymentId = async (bed: TestBed, sessionId: string): Promise<string> =>
  String((await bed.verify(sessionId)).body.payment.id);

describe('refundPayment', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
  });
  afterAll(() => bed.close());
  const paid = async () => {
    const sessionId = await bed.session();
    await bed.stripe.pay(sessionId);
    return { sessionId, id: await findPaymentId(bed, sessionId) };
  };
  const refund = (id: string, identity = asOwner(), body?: object) =>
    bed.owner('POST', `/payments/${id}/refund`, body, identity);
  const chargeOf = async (sessionId: string) => {
    const [row] = await bed.database.query<{ charge_id: string }>(
      'SELECT charge_id FROM payments WHERE session_id = $1',
      [sessionId],
    );
    return row?.charge_id;
  };

  refusesStrangers(
    paymentRoutes.refundPayment,
    () => bed.http,
    () => ({
      path: '/projects/testproject/payments/018f0000-0000-7000-8000-00000000dddd/refund',
    }),
  );

  it('gives the money back once, for ten calls at the same instant and one more', async () => {
    const { sessionId, id } = await paid();
    await bed.take('payment.changed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(id)));
    answers.push(await refund(id, asOperator()));
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, body: { id, status: 'refunded' } });
    expect(bed.stripe.refunds.filter((id) => id === sessionId)).toHaveLength(1);
    expect(await bed.take('payment.changed')).toMatchObject([
      { paymentId: id, status: 'refunded' },
    ]);
    expect((await bed.verify(sessionId)).body).toMatchObject({ paid: false });
  });

  it('refuses what was not paid', async () => {
    const open = await findPaymentId(bed, await bed.session());
    expect(await refund(open)).toMatchObject({ status: 409, body: { code: 'not_refundable' } });
    expect(await bed.take('payment.changed')).toMatchObject([]);
  });

  it("knows no other project's payment, and no made-up one", async () => {
    const { id } = await paid();
    const other = asOwner({ project: otherProject });
    for (const answer of [
      await refund(id, other),
      await refund('018f0000-0000-7000-8000-00000000dddd'),
      await refund('made-up'),
      await refund('%00'),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const stranger = asOwner({ userId: '018f0000-0000-7000-8000-00000000eeee' });
    expect(await refund(id, stranger)).toMatchObject({ body: { code: 'project_not_found' } });
    expect((await refund(id)).status).toBe(200);
  });

  it('shows a provider’s failure in our words, and can be asked again', async () => {
    const { id } = await paid();
    await bed.take('payment.changed');
    for (const [how, status, code] of [
      ['failing', 502, 'upstream_failed'],
      ['silent', 504, 'timeout'],
    ] as const) {
      bed.stripe.behave(how);
      const answer = await refund(id);
      expect(answer).toMatchObject({ status, body: { code } });
      expect(JSON.stringify(answer.body)).not.toContain('secret');
    }
    bed.stripe.behave(null);
    expect(await bed.take('payment.changed')).toEqual([]);
    expect(await refund(id)).toMatchObject({ status: 200, body: { status: 'refunded' } });
  });

  it('gives parts back, up to what is left, and shows them', async () => {
    const { sessionId, id } = await paid();
    await bed.take('payment.changed');
    for (const amount of [1000, 248])
      expect(await refund(id, asOwner(), { amount })).toMatchObject({
        status: 200,
        body: { status: 'paid' },
      });
    const tooMuch = await refund(id, asOwner(), { amount: 3001 });
    expect(tooMuch).toMatchObject({ status: 409, body: { code: 'not_refundable' } });
    expect(tooMuch.body.error).toContain('only 3000 is left');
    expect(bed.stripe.refundedOf(sessionId)).toBe(1248);
    expect((await bed.verify(sessionId)).body).toMatchObject({
      paid: true,
      payment: {
        status: 'paid',
        refundedAmount: 1248,
        refunds: [
          { amount: 1000, status: 'done', createdAt: expect.any(String) },
          { amount: 248, status: 'done' },
        ],
      },
    });
    expect(await bed.take('payment.changed')).toEqual([]);
    expect(await refund(id)).toMatchObject({
      status: 200,
      body: { status: 'refunded', refundedAmount: 4248 },
    });
    expect(bed.stripe.refundedOf(sessionId)).toBe(4248);
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'refunded' }]);
    expect(await refund(id, asOwner(), { amount: 1 })).toMatchObject({ status: 409 });
    expect(await refund(id)).toMatchObject({ status: 200 });
  });

  it('gives back no more than was paid, however many ask at the same instant', async () => {
    const { sessionId, id } = await paid();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => refund(id, asOwner(), { amount: 1000 })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(4).fill(200),
      ...Array(8).fill(409),
    ]);
    expect(bed.stripe.refundedOf(sessionId)).toBe(4000);
    expect(bed.stripe.refunds.filter((of) => of === sessionId)).toHaveLength(4);
    await Promise.all([refund(id), refund(id), refund(id, asOwner(), { amount: 248 })]);
    expect(bed.stripe.refundedOf(sessionId)).toBe(4248);
    expect((await bed.verify(sessionId)).body.payment.status).toBe('refunded');
  });

  it('gives one Idempotency-Key one part, also where its answer was lost', async () => {
    const { sessionId, id } = await paid();
    const again = () =>
      bed.call('POST', `/platform/projects/testproject/payments/${id}/refund`, {
        identity: asOwner(),
        body: { amount: 700 },
        headers: { 'idempotency-key': 'part' },
      });
    expect(await again()).toMatchObject({ status: 200 });
    await bed.database.query('DELETE FROM idempotency');
    expect(await again()).toMatchObject({ status: 200, body: { refundedAmount: 700 } });
    expect(bed.stripe.refundedOf(sessionId)).toBe(700);
  });

  it.each([
    ['a field that is not known', { sum: 1 }],
    ['nothing', { amount: 0 }],
    ['a negative amount', { amount: -5 }],
    ['a part of a cent', { amount: 1.5 }],
    ['a text', { amount: '100' }],
    ['a product that was not bought', { amount: 1, restock: [{ product: 'mug', quantity: 1 }] }],
  ])('refuses %s', async (_what, body) => {
    const { sessionId, id } = await paid();
    expect(await refund(id, asOwner(), body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
    expect(bed.stripe.refundedOf(sessionId)).toBe(0);
    expect(await refund(id, asOwner(), {})).toMatchObject({ body: { status: 'refunded' } });
  });

  it('refuses what the provider refuses, and keeps nothing of it', async () => {
    const { sessionId, id } = await paid();
    const outside = { payment_intent: (await chargeOf(sessionId)) ?? '', amount: '4000' };
    await fetch(`${bed.stripe.url}/v1/refunds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}` },
      body: new URLSearchParams(outside),
    });
    expect(await refund(id, asOwner(), { amount: 249 })).toMatchObject({ status: 409 });
    expect((await bed.verify(sessionId)).body.payment.refunds).toEqual([]);
    expect(await refund(id, asOwner(), { amount: 248 })).toMatchObject({ status: 200 });
    expect(bed.stripe.refundedOf(sessionId)).toBe(4248);
  });

  it('puts back into the stock what the owner says, and nothing else', async () => {
    const product = { name: 'Mug', amount: 1000, stock: 10 };
    await bed.call('PUT', '/products/mug', { identity: asKey(), body: product });
    const stock = async () =>
      (await bed.call('GET', '/products/mug', { identity: asKey() })).body.stock;
    const sessionId = await bed.session({ items: [{ product: 'mug', quantity: 3 }], returnUrl });
    await bed.stripe.pay(sessionId);
    const id = await findPaymentId(bed, sessionId);
    expect(await stock()).toBe(7);
    await refund(id, asOwner(), { amount: 500 });
    expect(await stock()).toBe(7);
    const restock = (quantity: number) => ({
      amount: 500,
      restock: [{ product: 'mug', quantity }],
    });
    await refund(id, asOwner(), restock(2));
    expect(await stock()).toBe(9);
    expect(await refund(id, asOwner(), restock(2))).toMatchObject({ status: 400 });
    await refund(id, asOwner(), { restock: [{ product: 'mug', quantity: 1 }] });
    expect(await stock()).toBe(10);
  });

  it('needs the account that was paid', async () => {
    const { id } = await paid();
    await bed.owner('DELETE', '/secrets/stripe');
    expect(await refund(id)).toMatchObject({ status: 409, body: { code: 'not_refundable' } });
  });
});

describe('refundPayment of the test checkout', () => {
  it('gives back once what was paid there', async () => {
    const bed = await createTestBed();
    const sessionId = await bed.session();
    await bed.press(sessionId, 'pay');
    const id = await findPaymentId(bed, sessionId);
    const answers = await Promise.all(
      [1, 2, 3].map(() => bed.owner('POST', `/payments/${id}/refund`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await bed.take('payment.changed')).map(({ status }) => status)).toEqual([
      'paid',
      'refunded',
    ]);
    expect(await bed.press(sessionId, 'pay')).toMatchObject({ status: 409 });
    await bed.close();
  });

  it('gives parts back, up to what was paid', async () => {
    const bed = await createTestBed();
    const sessionId = await bed.session();
    await bed.press(sessionId, 'pay');
    const path = `/payments/${await findPaymentId(bed, sessionId)}/refund`;
    const part = (amount: number) => bed.owner('POST', path, { amount });
    expect(await part(248)).toMatchObject({ status: 200, body: { status: 'paid' } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => part(1000)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect((await bed.verify(sessionId)).body.payment).toMatchObject({
      status: 'refunded',
      refundedAmount: 4248,
    });
    await bed.close();
  });
});
