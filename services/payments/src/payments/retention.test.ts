import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe('payments of the test checkout', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const rows = () =>
    bed.database.query(
      `SELECT session_id AS id, payments.status, test_sessions.status AS session, checks
         FROM payments FULL JOIN test_sessions ON test_sessions.id = session_id
        ORDER BY payments.created_at, payments.id`,
    );

  it('expire after a day, and are deleted after 60 unless they were paid', async () => {
    const sessions: string[] = [];
    for (let count = 0; count < 4; count++) sessions.push(await bed.session());
    const [paid = '', refunded = '', unpaid = '', failed = ''] = sessions;
    for (const sessionId of [paid, refunded]) await bed.press(sessionId, 'pay');
    const { id } = (await bed.verify(refunded)).body.payment;
    await bed.owner('POST', `/payments/${id}/refund`);
    await bed.database.query(`UPDATE payments SET status = 'failed' WHERE session_id = $1`, [
      failed,
    ]);
    bed.clock.pass(20 * minuteMs);
    await bed.service.sweep();
    expect(await rows()).toMatchObject([
      { id: paid, status: 'paid', session: 'paid', checks: 0 },
      { id: refunded, status: 'refunded', session: 'refunded', checks: 0 },
      { id: unpaid, status: 'open', session: 'open', checks: 0 },
      { id: failed, status: 'failed', session: 'open', checks: 0 },
    ]);
    bed.clock.pass(dayMs);
    await bed.service.sweep();
    bed.clock.pass(58 * dayMs);
    await bed.service.deleteOld();
    const kept = [
      { id: paid, status: 'paid', session: 'paid' },
      { id: refunded, status: 'refunded', session: 'refunded' },
    ];
    expect(await rows()).toMatchObject([
      ...kept,
      { id: unpaid, status: 'expired', checks: 1 },
      { id: failed, status: 'failed' },
    ]);
    bed.clock.pass(2 * dayMs);
    await bed.service.deleteOld();
    expect(await rows()).toMatchObject(kept);
    expect(await bed.verify(unpaid)).toMatchObject({ status: 404 });
    expect((await bed.verify(paid)).body.paid).toBe(true);
  });
});
