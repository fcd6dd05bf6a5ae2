import { writeConnections } from '@backlot/database';
import { anonymous, asKey, testProject, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pMap from 'p-map';
import { createStripeBed, type StripeBed, webhookSession } from '../testing/stripe-bed.ts';
import { createTestBed, returnUrl, type TestBed } from '../testing/test-bed.ts';

const product = (id: string, stock: number | null) => ({
  id,
  body: { name: id, amount: 1000, stock },
});
const set = async (bed: TestBed, { id, body }: ReturnType<typeof product>) =>
  expect(await bed.call('PUT', `/products/${id}`, { identity: asKey(), body })).toMatchObject({
    status: 200,
  });
const stockOf = async (bed: TestBed, id: string) =>
  (await bed.call('GET', `/products/${id}`, { identity: asKey() })).body.stock;
const payments = async (bed: TestBed) =>
  (await bed.call('GET', '/payments?limit=1000', { identity: asKey() })).body.items;
const start = (bed: TestBed, items: object[], buyer = anonymous()) =>
  bed.session({ items, returnUrl }, buyer);

describe('the stock, with the test checkout', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  afterEach(async () => {
    await bed.database.query('DELETE FROM payments');
    await bed.takeEvents();
  });
  /** As a browser does that finds the shop busy. */
  const pay = async (sessionId: string) => {
    for (;;) {
      const { status } = await bed.press(sessionId, 'pay');
      if (status < 500) return status;
    }
  };

  it('is sold to as many of 200 parallel buyers as there is, and the others have their money', async () => {
    await set(bed, product('mug', 14));
    await set(bed, product('card', 500));
    const sessions = await pMap(
      Array.from({ length: 200 }),
      (_, n) =>
        start(
          bed,
          n % 2
            ? [{ product: 'mug', quantity: 2 }, { product: 'card' }]
            : [{ product: 'card' }, { product: 'mug', quantity: 2 }],
          anonymous({ ip: `192.0.2.${n}` }),
        ),
      { concurrency: 8 },
    );
    const statuses = await Promise.all(sessions.map(pay));
    expect(statuses.filter((status) => status === 303)).toHaveLength(7);
    expect(statuses.filter((status) => status === 409)).toHaveLength(193);
    expect(await stockOf(bed, 'mug')).toBe(0);
    expect(await stockOf(bed, 'card')).toBe(493);
    const all = await payments(bed);
    const reasons = all.map(
      ({ status, refundReason }: { status: string; refundReason: string | null }) =>
        `${status} ${refundReason}`,
    );
    expect(new Set(reasons)).toEqual(new Set(['paid null', 'refunded out_of_stock']));
    expect(reasons.filter((reason: string) => reason === 'paid null')).toHaveLength(7);
    const events = await bed.take('payment.changed');
    expect(events.filter(({ status }) => status === 'paid')).toHaveLength(7);
    expect(events.filter(({ status }) => status === 'refunded')).toHaveLength(193);
  });

  it('is waited for without a connection: other calls are answered, and every buyer rightly', async () => {
    await set(bed, product('vase', 30));
    const sessions = await pMap(
      Array.from({ length: 4 * writeConnections }),
      (_, n) => start(bed, [{ product: 'vase' }], anonymous({ ip: `192.0.2.${n % 3}` })),
      { concurrency: 8 },
    );
    const presses: Promise<number>[] = [];
    await bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query("SELECT FROM products WHERE id = 'vase' FOR UPDATE");
      presses.push(...sessions.map(async (id) => (await bed.press(id, 'pay')).status));
      // All have come that far; more of them than there are connections.
      await until(async () => bed.service.waitingPayments() === sessions.length - 1);
      expect(await set(bed, product('cup', 1))).toBeUndefined();
    });
    const statuses = await Promise.all(presses);
    expect(statuses.filter((status) => status === 303)).toHaveLength(30);
    expect(statuses.filter((status) => status === 409)).toHaveLength(2);
    expect(await stockOf(bed, 'vase')).toBe(0);
  });

  it('says on the page that it is sold out, and that nothing is paid', async () => {
    await set(bed, product('last', 1));
    const sessions = [
      await start(bed, [{ product: 'last' }]),
      await start(bed, [{ product: 'last' }]),
    ];
    expect(await bed.press(String(sessions[0]), 'pay')).toMatchObject({ status: 303 });
    const late = await bed.press(String(sessions[1]), 'pay');
    expect(late).toMatchObject({ status: 409, body: expect.stringContaining('Sold out') });
    expect((await bed.verify(String(sessions[1]))).body).toMatchObject({
      paid: false,
      payment: { status: 'refunded', refundReason: 'out_of_stock' },
    });
  });

  it('has none of a deleted product, all of an uncounted one, and that of one no longer for sale', async () => {
    await set(bed, product('deleted', 5));
    await set(bed, product('uncounted', null));
    await set(bed, product('hidden', 5));
    const ids = ['deleted', 'uncounted', 'hidden'];
    const sessions = await pMap(ids, (id) => start(bed, [{ product: id, quantity: 5 }]));
    await bed.call('DELETE', '/products/deleted', { identity: asKey() });
    await bed.call('PUT', '/products/hidden', {
      identity: asKey(),
      body: { name: 'hidden', amount: 1, active: false },
    });
    expect(await pMap(sessions, pay)).toEqual([409, 303, 303]);
    expect(await stockOf(bed, 'hidden')).toBe(0);
  });

  it('is that of the payment’s own project', async () => {
    const project = { ...testProject, id: 'otherproject', number: 1002 };
    await set(bed, product('both', 1));
    await bed.call('PUT', '/products/both', {
      identity: asKey({ project }),
      body: product('both', 1).body,
    });
    await pay(await start(bed, [{ product: 'both' }]));
    const other = await bed.call('GET', '/products/both', { identity: asKey({ project }) });
    expect(other.body.stock).toBe(1);
  });
});

describe('the stock, with Stripe', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.ownerDatabase.query(
      `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`,
    );
  });
  afterAll(() => bed.close());
  const during = async <T>(moment: string, work: () => Promise<T>): Promise<T> => {
    await bed.ownerDatabase.query(
      `CREATE TRIGGER crashing BEFORE ${moment} FOR EACH ROW EXECUTE FUNCTION crash()`,
    );
    const table = moment.split(' ON ')[1] ?? '';
    return work().finally(() => bed.ownerDatabase.query(`DROP TRIGGER crashing ON ${table}`));
  };
  const statusOf = async (sessionId: string) =>
    (await bed.verify(sessionId)).body.payment.status as string;
  const arrive = (sessionId: string) =>
    bed.sendWebhook({
      type: 'checkout.session.completed',
      object: webhookSession(sessionId, { payment_intent: undefined }),
    });

  it('is taken once by webhook, verify and sweep at the same instant', async () => {
    await set(bed, product('mug', 10));
    const sessionId = await start(bed, [{ product: 'mug', quantity: 3 }]);
    await bed.stripe.pay(sessionId);
    bed.clock.pass(11 * 60_000);
    await Promise.all([
      ...[1, 2, 3].map(() => arrive(sessionId)),
      ...[1, 2].map(() => bed.verify(sessionId)),
      ...[1, 2].map(() => bed.service.sweep()),
    ]);
    expect(await statusOf(sessionId)).toBe('paid');
    expect(await stockOf(bed, 'mug')).toBe(7);
  });

  it('that is gone gives the money back, once, whatever dies when', async () => {
    await set(bed, product('last', 1));
    const sessions = [
      await start(bed, [{ product: 'last' }]),
      await start(bed, [{ product: 'last' }]),
    ];
    for (const sessionId of sessions) await bed.stripe.pay(sessionId);
    const [first = '', late = ''] = sessions;
    for (const moment of ['UPDATE ON products', 'INSERT ON outbox'])
      expect(await during(moment, () => arrive(first))).toMatchObject({ status: 500 });
    expect(await stockOf(bed, 'last')).toBe(1);
    expect(await arrive(first)).toMatchObject({ status: 200 });
    expect(await stockOf(bed, 'last')).toBe(0);
    expect(await arrive(late)).toMatchObject({ status: 200 });
    expect((await bed.verify(late)).body).toMatchObject({
      paid: false,
      payment: { status: 'refunding', refundReason: 'out_of_stock' },
    });
    await during('UPDATE ON payments', () => bed.service.sweep().catch(() => {}));
    bed.stripe.behave('failing');
    await bed.service.sweep();
    expect(await statusOf(late)).toBe('refunding');
    bed.stripe.behave(null);
    bed.clock.pass(11 * 60_000);
    await during('INSERT ON outbox', () => bed.service.sweep());
    expect(await statusOf(late)).toBe('refunding');
    bed.clock.pass(60 * 60_000);
    await Promise.all([bed.service.sweep(), bed.service.sweep()]);
    expect(await statusOf(late)).toBe('refunded');
    expect(await statusOf(first)).toBe('paid');
    expect(bed.stripe.refunds).toEqual([late]);
    const keys = bed.stripe.requests
      .filter(({ method, path }) => method === 'POST' && path === '/v1/refunds')
      .map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
  });

  it('is left alone by a refund that is reported before its payment', async () => {
    await set(bed, product('plate', 4));
    const sessionId = await start(bed, [{ product: 'plate' }]);
    const { id } = (await bed.verify(sessionId)).body.payment;
    const charge = { refunded: true, payment_intent: 'pi_1', metadata: { backlot_payment: id } };
    expect(await bed.sendWebhook({ type: 'charge.refunded', object: charge })).toMatchObject({
      status: 200,
    });
    expect(await statusOf(sessionId)).toBe('refunded');
    expect(await stockOf(bed, 'plate')).toBe(4);
  });
});
