import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { order, otherProject } from '../testing/test-bed.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe('the sweep', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await bed.database.query('DELETE FROM payments');
    await bed.take('payment.changed');
  });
  const rows = () =>
    bed.database.query<{ id: string; status: string; checks: number }>(
      'SELECT id, status, checks FROM payments',
    );
  const requestsTo = (path: string) =>
    bed.stripe.requests.filter((request) => request.path.includes(path));

  it('finds what was paid without a webhook, once, by two sweeps at the same instant', async () => {
    const sessionId = await bed.session();
    await bed.stripe.pay(sessionId);
    await bed.service.sweep();
    expect(await rows()).toMatchObject([{ status: 'open', checks: 0 }]);
    bed.clock.pass(11 * minuteMs);
    await Promise.all([bed.service.sweep(), bed.service.sweep()]);
    expect(await rows()).toMatchObject([{ status: 'paid', checks: 1 }]);
    expect(requestsTo(sessionId)).toHaveLength(1);
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'paid' }]);
  });

  it('checks one payment although the check of another one fails', async () => {
    const sessionId = await bed.session();
    await bed.session(order, anonymous({ project: otherProject }));
    await bed.database.query(`UPDATE payments SET provider = 'stripe' WHERE project_number = 1002`);
    await bed.database.query(
      `INSERT INTO secrets VALUES (1002, 'broken', '…', 'test', now()) ON CONFLICT DO NOTHING`,
    );
    await bed.stripe.pay(sessionId);
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect((await rows()).map(({ status }) => status).sort()).toEqual(['open', 'paid']);
  });

  it('checks less and less often, and not for ever', async () => {
    const sessionId = await bed.session();
    bed.stripe.behave('failing');
    bed.clock.pass(11 * minuteMs);
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      await bed.service.sweep();
      bed.clock.pass(10 * minuteMs);
    }
    expect(requestsTo(sessionId).length).toBeLessThan(10);
    expect(await rows()).toMatchObject([{ status: 'open' }]);
    bed.clock.pass(31 * dayMs);
    await bed.service.sweep();
    bed.stripe.behave(null);
    expect(await rows()).toMatchObject([{ status: 'expired' }]);
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'expired' }]);
  });

  /** So many payments of a project, due since before all others. */
  const unpaid = (projectNumber: number, count: number) =>
    bed.database.query(
      `INSERT INTO payments (id, project_number, project_id, provider, session_id, amount, currency, items,
         metadata, return_url, created_at, expires_at, check_at)
       SELECT gen_random_uuid(), $1, 'p', 'test-checkout', 'cs_' || n, 1, 'usd', '[]', '{}', 'http://localhost/',
         $3, $3::timestamptz + interval '23 hours', $3 FROM generate_series(1, $2::int) AS n`,
      [projectNumber, count, new Date(bed.clock.now())],
    );

  it('finds what was paid although another project has more unpaid sessions than it can check', async () => {
    await unpaid(1000, 1100);
    await unpaid(1003, 1100);
    await bed.stripe.pay(await bed.session());
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(await bed.take('payment.changed')).toMatchObject([{ status: 'paid' }]);
    const checked = await bed.database.query(
      `SELECT project_number FROM payments WHERE status = 'open' AND checks > 0
        GROUP BY project_number HAVING count(*) > 400 ORDER BY project_number`,
    );
    expect(checked).toEqual([{ project_number: 1000 }, { project_number: 1003 }]);
  });

  it('gives money back however many sessions of the same project are unpaid', async () => {
    const sessionId = await bed.session();
    await bed.stripe.pay(sessionId);
    await bed.verify(sessionId);
    await unpaid(1001, 1100);
    bed.clock.pass(minuteMs);
    await bed.database.query(
      `UPDATE payments SET status = 'refunding', check_at = $1 WHERE status = 'paid'`,
      [new Date(bed.clock.now())],
    );
    await bed.service.sweep();
    expect((await bed.verify(sessionId)).body.payment.status).toBe('refunded');
  });

  it('closes a session that no caller knows, and deletes its payment', async () => {
    const sessionId = await bed.session();
    await bed.database.query('UPDATE payments SET session_id = NULL');
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(await rows()).toEqual([]);
    expect(requestsTo(`${sessionId}/expire`)).toHaveLength(1);
    await bed.stripe.pay(sessionId);
    expect(await bed.take('payment.changed')).toEqual([]);
  });

  it('keeps a payment while it is unknown whether it has a session', async () => {
    bed.stripe.behave('silent');
    expect(await bed.checkout()).toMatchObject({ status: 504, body: { code: 'timeout' } });
    bed.stripe.behave('failing');
    const failed = await bed.checkout();
    expect(failed).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    expect(JSON.stringify(failed.body)).not.toContain('secret');
    bed.stripe.behave('too-small');
    const refused = await bed.checkout();
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(refused.body.error).toContain('"items"');
    bed.stripe.behave(null);
    expect(await rows()).toHaveLength(2);
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(await rows()).toEqual([]);
  });

  it('answers the stored status while the provider is down', async () => {
    const sessionId = await bed.session();
    bed.stripe.behave('silent');
    expect(await bed.verify(sessionId)).toMatchObject({
      status: 200,
      body: { paid: false, payment: { status: 'open' } },
    });
    bed.stripe.behave(null);
    await bed.stripe.pay(sessionId);
    expect((await bed.verify(sessionId)).body.paid).toBe(true);
  });

  it('deletes old events', async () => {
    await bed.database.query(
      "INSERT INTO heard_events SELECT 1001, 'evt_old', now() - interval '31 days'",
    );
    await bed.service.deleteOld();
    expect(await bed.database.query('SELECT 1 FROM heard_events')).toEqual([]);
  });
});
