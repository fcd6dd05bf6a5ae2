import { paymentRoutes } from '@backlot/contract';
import { asOperator, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { createTestBed, otherProject, type TestBed } from '../testing/test-bed.ts';

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
  const refund = (id: string, identity = asOwner()) =>
    bed.owner('POST', `/payments/${id}/refund`, undefined, identity);

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
});
