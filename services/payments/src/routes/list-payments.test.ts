import { paymentRoutes } from '@backlot/contract';
import { asOperator, asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  order,
  otherProject,
  returnUrl,
  type TestBed,
} from '../testing/test-bed.ts';

describe('listPayments', () => {
  let bed: TestBed;
  const sessions: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (const name of ['one', 'two', 'three']) {
      sessions.unshift(await bed.session({ ...order, items: [{ name, amount: 100 }] }));
      bed.clock.pass(10);
    }
    await bed.session(order, asOwner({ project: otherProject }));
  });
  afterAll(() => bed.close());
  const sessionIds = (body: { items: { sessionId: string }[] }) =>
    body.items.map((payment) => payment.sessionId);

  refusesStrangers(
    paymentRoutes.listPayments,
    () => bed.http,
    () => ({ path: '/projects/testproject/payments' }),
  );

  it('lists payments of the project alone, newest first, page by page', async () => {
    const first = await bed.owner('GET', '/payments?limit=2');
    expect(first).toMatchObject({ status: 200, body: { hasMore: true } });
    expect(sessionIds(first.body)).toEqual(sessions.slice(0, 2));
    const rest = await bed.owner('GET', `/payments?limit=2&cursor=${first.body.nextCursor}`);
    expect(rest.body).toMatchObject({ hasMore: false, nextCursor: null });
    expect(sessionIds(rest.body)).toEqual(sessions.slice(2));
    const all = await bed.owner('GET', '/payments', undefined, asOperator());
    expect(sessionIds(all.body)).toEqual(sessions);
  });

  it('lists those of a status, and the oldest first where it is asked to', async () => {
    await bed.press(String(sessions[1]), 'pay');
    const list = async (query: string) => {
      const answer = await bed.owner('GET', `/payments?${query}`);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    expect(sessionIds(await list('status=paid'))).toEqual([sessions[1]]);
    expect(sessionIds(await list('status=open'))).toEqual([sessions[0], sessions[2]]);
    expect(sessionIds(await list('status=refunded'))).toEqual([]);
    const oldest = await list('sort=createdAt&limit=2');
    expect(sessionIds(oldest)).toEqual([sessions[2], sessions[1]]);
    const rest = await list(`sort=createdAt&limit=2&cursor=${oldest.nextCursor}`);
    expect(sessionIds(rest)).toEqual([sessions[0]]);
    for (const query of [
      `cursor=${oldest.nextCursor}`,
      `sort=createdAt&status=open&cursor=${oldest.nextCursor}`,
      'status=done',
      'sort=price',
    ])
      expect(await bed.owner('GET', `/payments?${query}`)).toMatchObject({ status: 400 });
  });

  it("refuses made-up cursors and another project's path", async () => {
    const madeUp = Buffer.from(JSON.stringify(['payments', 5, 'no-uuid'])).toString('base64url');
    expect(await bed.owner('GET', `/payments?cursor=${madeUp}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    const path = '/platform/projects/otherproject/payments';
    expect(await bed.http.call('GET', path, { identity: asOwner() })).toMatchObject({
      status: 404,
      body: { code: 'project_not_found' },
    });
    const stranger = asOwner({ userId: '018f0000-0000-7000-8000-00000000eeee' });
    expect(await bed.owner('GET', '/payments', undefined, stranger)).toMatchObject({ status: 404 });
  });

  it('ends a page early where payments are large, and leaves none out', async () => {
    const item = { name: '語'.repeat(250), amount: 100 };
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`key ${n}`, '語'.repeat(500)]),
    );
    const largeBytes = 50 * 3 * 250 + 20 * 3 * 500;
    const large: string[] = [];
    for (let n = 0; n < 20; n++) {
      large.unshift(await bed.session({ returnUrl, items: Array(50).fill(item), metadata }));
      bed.clock.pass(10);
    }
    const first = await bed.owner('GET', '/payments?limit=1000');
    expect(first.body).toMatchObject({ hasMore: true, nextCursor: expect.any(String) });
    expect(Buffer.byteLength(JSON.stringify(first.body))).toBeLessThan(
      1024 * 1024 + 2 * largeBytes,
    );
    const rest = await bed.owner('GET', `/payments?limit=1000&cursor=${first.body.nextCursor}`);
    expect(rest.body).toMatchObject({ hasMore: false, nextCursor: null });
    expect([...sessionIds(first.body), ...sessionIds(rest.body)]).toEqual([...large, ...sessions]);
  });
});
