import { randomUUID } from 'node:crypto';
import type { Payload } from '@backlot/contract';
import { asKey, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed, webhookSession } from '../testing/stripe-bed.ts';
import { returnUrl } from '../testing/test-bed.ts';

const minuteMs = 60_000;

describe('a payment for a record', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.call('PUT', '/products/mug', {
      identity: asKey(),
      body: { name: 'Mug', amount: 1999 },
    });
    await bed.owner('PUT', '/on-paid/order', {
      collection: 'orders',
      set: { status: 'paid' },
      pays: 'items',
    });
    await bed.ownerDatabase.query(
      `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`,
    );
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await bed.database.query('DELETE FROM payments');
    await bed.takeEvents();
  });

  const begin = async (recordId: string = randomUUID()) => {
    const sessionId = await bed.session({
      items: [{ product: 'mug', quantity: 2 }],
      returnUrl,
      onPaid: { rule: 'order', recordId },
    });
    await bed.stripe.pay(sessionId);
    return sessionId;
  };
  const arrive = (sessionId: string) =>
    bed.sendWebhook({
      type: 'checkout.session.completed',
      object: webhookSession(sessionId, { payment_intent: undefined }),
    });
  const payment = async (sessionId: string) => (await bed.verify(sessionId)).body.payment;
  const settle = (paymentId: string, outcome: Payload<'record.settled'>['outcome']) =>
    bed.bus.publish({
      id: randomUUID(),
      topic: 'record.settled',
      payload: { projectId: 'testproject', projectNumber: 1001, paymentId, outcome },
    });

  it('tells the record what the rule sets and what was paid', async () => {
    const recordId = randomUUID();
    const sessionId = await begin(recordId);
    expect(await arrive(sessionId)).toMatchObject({ status: 200 });
    const { id, paidAt, onPaid } = await payment(sessionId);
    expect(onPaid).toEqual({ rule: 'order', recordId, outcome: 'pending' });
    expect(await bed.take('record.paid')).toEqual([
      {
        projectId: 'testproject',
        projectNumber: 1001,
        collection: 'orders',
        recordId,
        set: { status: 'paid' },
        pays: 'items',
        payment: {
          // The session's id stays with the payer, who is known by it alone.
          id,
          sessionId: id,
          amount: 3998,
          currency: 'usd',
          livemode: false,
          paidAt,
          items: [{ product: 'mug', name: 'Mug', amount: 1999, quantity: 2 }],
        },
      },
    ]);
  });

  it('keeps the rule as it was at the checkout', async () => {
    const sessionId = await begin();
    await bed.owner('PUT', '/on-paid/order', {
      collection: 'other',
      set: { status: 'free' },
      pays: 'items',
    });
    await arrive(sessionId);
    await bed.owner('PUT', '/on-paid/order', {
      collection: 'orders',
      set: { status: 'paid' },
      pays: 'items',
    });
    expect(await bed.take('record.paid')).toMatchObject([
      { collection: 'orders', set: { status: 'paid' }, pays: 'items' },
    ]);
  });

  it('is told once by webhook, verify and sweep at the same instant', async () => {
    const sessionId = await begin();
    bed.clock.pass(11 * minuteMs);
    await Promise.all([
      ...[1, 2, 3].map(() => arrive(sessionId)),
      ...[1, 2].map(() => bed.verify(sessionId)),
      ...[1, 2].map(() => bed.service.sweep()),
    ]);
    expect(await bed.take('record.paid')).toHaveLength(1);
  });

  it('is told with the payment or not at all where the process dies in between', async () => {
    const sessionId = await begin();
    await bed.ownerDatabase.query(
      `CREATE TRIGGER crashing BEFORE INSERT ON outbox FOR EACH ROW
         WHEN (NEW.topic = 'record.paid') EXECUTE FUNCTION crash()`,
    );
    expect(await arrive(sessionId)).toMatchObject({ status: 500 });
    expect((await bed.verify(sessionId)).status).toBe(500);
    await bed.ownerDatabase.query('DROP TRIGGER crashing ON outbox');
    expect(await bed.takeEvents()).toEqual([]);
    expect(await bed.database.query('SELECT status, record_outcome FROM payments')).toEqual([
      { status: 'open', record_outcome: null },
    ]);
    expect(await arrive(sessionId)).toMatchObject({ status: 200 });
    expect(await bed.take('record.paid')).toHaveLength(1);
  });

  it('is told again, less and less often, until the answer has come', async () => {
    await bed.service.start();
    const told: string[] = [];
    await bed.bus.subscribe({
      queue: 'records.record-paid',
      topics: ['record.paid'],
      handler: async ({ payload }) => void told.push(JSON.stringify(payload)),
    });
    const sessionId = await begin();
    await arrive(sessionId);
    const { id } = await payment(sessionId);
    for (let minute = 0; minute < 240; minute++) {
      bed.clock.pass(minuteMs);
      await bed.service.sweep();
    }
    await until(async () => (await bed.database.query('SELECT 1 FROM outbox')).length === 0);
    expect(told.length).toBeGreaterThan(5);
    expect(told.length).toBeLessThan(12);
    expect(new Set(told).size).toBe(1);
    await settle(id, 'not_found');
    expect((await payment(sessionId)).onPaid.outcome).toBe('not_found');
    await settle(id, 'done');
    await settle(id, 'already_paid');
    expect((await payment(sessionId)).onPaid.outcome).toBe('done');
    bed.clock.pass(24 * 60 * minuteMs);
    await bed.service.sweep();
    await until(async () => (await bed.database.query('SELECT 1 FROM outbox')).length === 0);
    expect(told.length).toBeLessThan(12);
  });
});
