import { paymentRoutes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createStripeBed, eventText, type StripeBed, toldSession } from '../test-webhooks.ts';

const completed = 'checkout.session.completed';
const failed = 'checkout.session.async_payment_failed';
const succeeded = 'checkout.session.async_payment_succeeded';
const expired = 'checkout.session.expired';

describe('receiveWebhook', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.takeEvents();
  });
  afterAll(() => bed.close());

  /** Without asking the provider. */
  const statusOf = async (sessionId: string) => {
    const [row] = await bed.database.query<{ status: string }>(
      'SELECT status FROM payments WHERE session_id = $1',
      [sessionId],
    );
    return row?.status;
  };
  const statuses = async () => (await bed.takeEvents()).map(({ status }) => status);

  it('answers only who the gateway vouches for, which looks at no credentials here', async () => {
    const answer = await bed.http.call('POST', '/payments/webhook', { body: '{}' });
    expect(answer.status).toBe(401);
    expect(paymentRoutes.receiveWebhook.ignoresCredentials).toBe(true);
  });

  it('hears an event once, however often it is sent', async () => {
    const sessionId = await bed.session();
    const text = eventText({ type: completed, object: toldSession(sessionId) });
    const answers = await Promise.all(Array.from({ length: 10 }, () => bed.tell(text)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await statuses()).toEqual(['paid']);
  });

  it('gives one paid and one event for two webhooks and a verify at the same instant', async () => {
    for (let round = 0; round < 10; round++) {
      const sessionId = await bed.session();
      await bed.stripe.pay(sessionId);
      const object = toldSession(sessionId);
      const [, , verified] = await Promise.all([
        bed.tell({ type: completed, object }),
        bed.tell({ type: succeeded, object }),
        bed.verify(sessionId),
      ]);
      expect(verified).toMatchObject({ body: { paid: true } });
      expect(await statuses()).toEqual(['paid']);
    }
  });

  it('waits for money that is on its way', async () => {
    const sessionId = await bed.session();
    const unpaid = toldSession(sessionId, { payment_status: 'unpaid' });
    await bed.tell({ type: completed, object: unpaid });
    expect(await statusOf(sessionId)).toBe('open');
    await bed.tell({ type: succeeded, object: toldSession(sessionId) });
    expect(await statusOf(sessionId)).toBe('paid');
    expect(await statuses()).toEqual(['paid']);
  });

  it.each([
    [[failed], 'failed', ['failed']],
    [[expired], 'expired', ['expired']],
    [[failed, succeeded], 'paid', ['failed', 'paid']],
    [[succeeded, failed, expired], 'paid', ['paid']],
    [[expired, completed], 'paid', ['expired', 'paid']],
    [['charge.refunded', completed, failed], 'refunded', ['paid', 'refunded']],
    [[completed, 'charge.refunded', completed], 'refunded', ['paid', 'refunded']],
  ])('only moves forward: %j ends %s', async (types, end, told) => {
    const sessionId = await bed.session();
    const { payment } = (await bed.verify(sessionId)).body;
    const charge = {
      id: 'ch_1',
      refunded: true,
      payment_intent: 'pi_1',
      metadata: { backlot_payment: payment.id },
    };
    for (const type of types) {
      const object = type === 'charge.refunded' ? charge : toldSession(sessionId);
      expect(await bed.tell({ type, object })).toMatchObject({ status: 200 });
    }
    expect(await statusOf(sessionId)).toBe(end);
    expect(await statuses()).toEqual(told);
  });

  it('knows a refund by its charge too, and a part that was given back is none', async () => {
    const sessionId = await bed.session();
    await bed.tell({ type: completed, object: toldSession(sessionId) });
    const charge = { payment_intent: `pi_of_${sessionId}`, refunded: false };
    await bed.tell({ type: 'charge.refunded', object: charge });
    expect(await statusOf(sessionId)).toBe('paid');
    await bed.tell({ type: 'charge.refunded', object: { ...charge, refunded: true } });
    expect(await statusOf(sessionId)).toBe('refunded');
    await bed.takeEvents();
  });

  it('finds the payment of a session that a crash kept from being recorded', async () => {
    const sessionId = await bed.session();
    const { payment } = (await bed.verify(sessionId)).body;
    await bed.database.query('UPDATE payments SET session_id = NULL WHERE id = $1', [payment.id]);
    const object = toldSession(sessionId, { client_reference_id: payment.id });
    await bed.tell({ type: completed, object });
    expect(await statusOf(sessionId)).toBe('paid');
    const other = toldSession('cs_other', { client_reference_id: payment.id });
    await bed.tell({ type: 'checkout.session.expired', object: other });
    expect(await statuses()).toEqual(['paid']);
  });

  it('answers 200 to what it does not know, and changes nothing', async () => {
    for (const event of [
      { type: 'customer.created', object: { id: 'cus_1' } },
      { type: completed, object: toldSession('cs_of_nobody') },
      { type: completed, object: { id: 5 } },
      { type: 'charge.refunded', object: { refunded: true } },
    ])
      expect(await bed.tell(event)).toMatchObject({ status: 200, body: { received: true } });
    expect(await statuses()).toEqual([]);
  });

  it('never fails on our side, whatever is signed', async () => {
    const event = fc.record({
      id: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
      type: fc.oneof(fc.constantFrom(completed, expired, 'charge.refunded'), fc.string()),
      data: fc.record({
        object: fc.oneof(
          fc.anything(),
          fc.record({
            id: fc.string({ unit: 'binary' }),
            status: fc.anything(),
            payment_status: fc.constantFrom('paid', 'unpaid'),
            client_reference_id: fc.oneof(fc.string({ unit: 'binary' }), fc.uuid()),
            refunded: fc.boolean(),
            metadata: fc.record({ backlot_payment: fc.string({ unit: 'binary' }) }),
          }),
        ),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(event, fc.anything()), async (value) => {
        const text = JSON.stringify(value, (_key, each) =>
          typeof each === 'bigint' ? String(each) : each,
        );
        const answer = await bed.tell(text ?? '');
        expect([200, 400]).toContain(answer.status);
      }),
      { numRuns: 150 },
    );
  });
});
