import { paymentRoutes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createStripeBed,
  eventText,
  type StripeBed,
  webhookSession,
} from '../testing/stripe-bed.ts';

const completed = 'checkout.session.completed';
const failed = 'checkout.session.async_payment_failed';
const succeeded = 'checkout.session.async_payment_succeeded';
const expired = 'checkout.session.expired';

describe('receiveWebhook', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.take('payment.changed');
  });
  afterAll(() => bed.close());

  /** Without asking the provider. */
  const findStatus = async (sessionId: string) => {
    const [row] = await bed.database.query<{ status: string }>(
      'SELECT status FROM payments WHERE session_id = $1',
      [sessionId],
    );
    return row?.status;
  };
  const statuses = async () => (await bed.take('payment.changed')).map(({ status }) => status);

  it('answers only calls from the gateway, which checks no credentials here', async () => {
    const answer = await bed.http.call('POST', '/payments/webhook', { body: '{}' });
    expect(answer.status).toBe(401);
    expect(paymentRoutes.receiveWebhook.ignoresCredentials).toBe(true);
  });

  it('counts an event once, however often it is sent', async () => {
    const sessionId = await bed.session();
    const text = eventText({ type: completed, object: webhookSession(sessionId) });
    const answers = await Promise.all(Array.from({ length: 10 }, () => bed.sendWebhook(text)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await statuses()).toEqual(['paid']);
  });

  it('gives one paid and one event for two webhooks and a verify at the same instant', async () => {
    for (let round = 0; round < 10; round++) {
      const sessionId = await bed.session();
      await bed.stripe.pay(sessionId);
      const object = webhookSession(sessionId);
      const [, , verified] = await Promise.all([
        bed.sendWebhook({ type: completed, object }),
        bed.sendWebhook({ type: succeeded, object }),
        bed.verify(sessionId),
      ]);
      expect(verified).toMatchObject({ body: { paid: true } });
      expect(await statuses()).toEqual(['paid']);
    }
  });

  it('waits for money that is on its way', async () => {
    const sessionId = await bed.session();
    const unpaid = webhookSession(sessionId, { payment_status: 'unpaid' });
    await bed.sendWebhook({ type: completed, object: unpaid });
    expect(await findStatus(sessionId)).toBe('open');
    await bed.sendWebhook({ type: succeeded, object: webhookSession(sessionId) });
    expect(await findStatus(sessionId)).toBe('paid');
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
  ])('only moves forward: %j ends %s', async (types, end, expected) => {
    const sessionId = await bed.session();
    const { payment } = (await bed.verify(sessionId)).body;
    const charge = {
      id: 'ch_1',
      refunded: true,
      payment_intent: 'pi_1',
      metadata: { backlot_payment: payment.id },
    };
    for (const type of types) {
      const object = type === 'charge.refunded' ? charge : webhookSession(sessionId);
      expect(await bed.sendWebhook({ type, object })).toMatchObject({ status: 200 });
    }
    expect(await findStatus(sessionId)).toBe(end);
    expect(await statuses()).toEqual(expected);
  });

  it('knows a refund by its charge too, and a part that was given back is none', async () => {
    const sessionId = await bed.session();
    await bed.sendWebhook({ type: completed, object: webhookSession(sessionId) });
    const charge = { payment_intent: `pi_of_${sessionId}`, refunded: false };
    await bed.sendWebhook({ type: 'charge.refunded', object: charge });
    expect(await findStatus(sessionId)).toBe('paid');
    await bed.sendWebhook({ type: 'charge.refunded', object: { ...charge, refunded: true } });
    expect(await findStatus(sessionId)).toBe('refunded');
    await bed.take('payment.changed');
  });

  it('finds the payment of a session that a crash kept from being recorded', async () => {
    const sessionId = await bed.session();
    const { payment } = (await bed.verify(sessionId)).body;
    await bed.database.query('UPDATE payments SET session_id = NULL WHERE id = $1', [payment.id]);
    const object = webhookSession(sessionId, { client_reference_id: payment.id });
    await bed.sendWebhook({ type: completed, object });
    expect(await findStatus(sessionId)).toBe('paid');
    const other = webhookSession('cs_other', { client_reference_id: payment.id });
    await bed.sendWebhook({ type: 'checkout.session.expired', object: other });
    expect(await statuses()).toEqual(['paid']);
  });

  it('answers 200 to what it does not know, and changes nothing', async () => {
    for (const event of [
      { type: 'customer.created', object: { id: 'cus_1' } },
      { type: completed, object: webhookSession('cs_of_nobody') },
      { type: completed, object: { id: 5 } },
      { type: 'charge.refunded', object: { refunded: true } },
    ])
      expect(await bed.sendWebhook(event)).toMatchObject({ status: 200, body: { received: true } });
    expect(await statuses()).toEqual([]);
  });

  it.each([
    ['charge.refunded', { id: '\0' }, { refunded: true, payment_intent: 'pi_1' }, 400],
    [completed, {}, webhookSession('\0'), 200],
    [completed, {}, webhookSession('cs_1', { payment_intent: '\0' }), 200],
    ['charge.refunded', {}, { refunded: true, payment_intent: '\0' }, 200],
  ])('keeps no NUL of a %s %j', async (type, named, object, status) => {
    const event = { id: 'evt_1', type, data: { object }, ...named };
    expect(await bed.sendWebhook(JSON.stringify(event))).toMatchObject({ status });
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
        const text = JSON.stringify(value, (_key, field) =>
          typeof field === 'bigint' ? String(field) : field,
        );
        const answer = await bed.sendWebhook(text ?? '');
        expect([200, 400]).toContain(answer.status);
      }),
      { numRuns: 150 },
    );
  });
});
