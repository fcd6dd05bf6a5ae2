import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed, webhookSession } from '../testing/stripe-bed.ts';
import { order } from '../testing/test-bed.ts';

const minuteMs = 60_000;

describe('a crash after the provider answered and before that is stored', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.ownerDatabase.query(
      `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`,
    );
  });
  afterAll(() => bed.close());
  afterEach(async () => {
    await bed.database.query('DELETE FROM payments');
    await bed.take('payment.changed');
  });

  const during = async <T>(moment: string, work: () => Promise<T>): Promise<T> => {
    await bed.ownerDatabase.query(
      `CREATE TRIGGER crashing BEFORE ${moment} FOR EACH ROW EXECUTE FUNCTION crash()`,
    );
    const table = moment.split(' ON ')[1] ?? '';
    return work().finally(() => bed.ownerDatabase.query(`DROP TRIGGER crashing ON ${table}`));
  };
  const rows = () =>
    bed.database.query<{ status: string; session_id: string | null }>(
      'SELECT status, session_id FROM payments ORDER BY created_at, id',
    );

  it('of a checkout: a repetition opens another session, and the first is closed', async () => {
    const headers = { 'idempotency-key': 'crash-1' };
    const before = bed.stripe.requests.length;
    const crashed = await during('UPDATE OF session_id ON payments', () =>
      bed.checkout(order, { headers }),
    );
    expect(crashed).toMatchObject({ status: 500, body: { code: 'internal' } });
    const again = await bed.checkout(order, { headers });
    expect(again).toMatchObject({ status: 200 });
    expect(await rows()).toMatchObject([
      { session_id: null },
      { session_id: again.body.sessionId },
    ]);
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(await rows()).toMatchObject([{ status: 'open', session_id: again.body.sessionId }]);
    const asked = bed.stripe.requests.slice(before);
    expect(asked.filter(({ path }) => path.endsWith('/expire'))).toHaveLength(1);
    expect(await bed.take('payment.changed')).toEqual([]);
  });

  it('of a refund: a repetition ends it, and the money went back once', async () => {
    const sessionId = await bed.session();
    await bed.stripe.pay(sessionId);
    const { id } = (await bed.verify(sessionId)).body.payment;
    await bed.take('payment.changed');
    const refund = () => bed.owner('POST', `/payments/${id}/refund`);
    for (const moment of ['UPDATE OF status ON payments', 'INSERT ON outbox']) {
      expect(await during(moment, refund)).toMatchObject({ status: 500 });
      expect(await rows()).toMatchObject([{ status: 'paid' }]);
    }
    expect(await refund()).toMatchObject({ status: 200, body: { status: 'refunded' } });
    expect(bed.stripe.refunds).toEqual([sessionId]);
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'refunded' }]);
  });

  it('of a part that goes back: the sweep ends it, and it went back once, however late', async () => {
    const sessionId = await bed.session();
    await bed.stripe.pay(sessionId);
    const { id } = (await bed.verify(sessionId)).body.payment;
    const part = () => bed.owner('POST', `/payments/${id}/refund`, { amount: 1000 });
    const crash = () =>
      bed.ownerDatabase.query(
        `CREATE TRIGGER crashing BEFORE UPDATE OF refunds ON payments FOR EACH ROW
           WHEN (NEW.refunds @> '[{"status": "done"}]') EXECUTE FUNCTION crash()`,
      );
    await crash();
    expect(await part()).toMatchObject({ status: 500 });
    await bed.ownerDatabase.query('DROP TRIGGER crashing ON payments');
    expect(bed.stripe.refundedOf(sessionId)).toBe(1000);
    expect((await bed.verify(sessionId)).body.payment).toMatchObject({
      status: 'paid',
      refundedAmount: 0,
      refunds: [{ amount: 1000, status: 'pending' }],
    });
    bed.stripe.forgetKeys();
    bed.clock.pass(30 * 60 * minuteMs);
    await Promise.all([bed.service.sweep(), bed.service.sweep()]);
    expect(bed.stripe.refundedOf(sessionId)).toBe(1000);
    expect((await bed.verify(sessionId)).body.payment).toMatchObject({
      status: 'paid',
      refundedAmount: 1000,
      refunds: [{ amount: 1000, status: 'done' }],
    });
  });

  it('of a webhook: nothing of it counts until it is repeated', async () => {
    const sessionId = await bed.session();
    const event = {
      id: 'evt_crash',
      type: 'checkout.session.completed',
      object: webhookSession(sessionId),
    };
    for (const moment of ['UPDATE OF status ON payments', 'INSERT ON outbox'])
      expect(await during(moment, () => bed.sendWebhook(event))).toMatchObject({ status: 500 });
    expect(await rows()).toMatchObject([{ status: 'open' }]);
    expect(await bed.sendWebhook(event)).toMatchObject({ status: 200 });
    expect(await rows()).toMatchObject([{ status: 'paid' }]);
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'paid' }]);
  });

  it('of the test checkout: the button can be pressed again', async () => {
    await bed.owner('DELETE', '/secrets/stripe');
    await bed.owner('PUT', '/secrets/stripe', { testCheckout: true });
    const sessionId = await bed.session();
    const crashed = await during('INSERT ON outbox', () => bed.press(sessionId, 'pay'));
    expect(crashed.status).toBe(500);
    expect((await bed.verify(sessionId)).body.paid).toBe(false);
    expect(await bed.press(sessionId, 'pay')).toMatchObject({ status: 303 });
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'paid' }]);
  });
});
