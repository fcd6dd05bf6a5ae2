import { paymentRoutes } from '@backlot/contract';
import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, order, otherProject, type TestBed } from '../testing/test-bed.ts';

describe('the page of the test checkout', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const show = (sessionId: string, identity = anonymous()) =>
    bed.http.call('GET', `/payments/test-checkout/${sessionId}`, {
      identity,
      headers: { accept: 'text/html' },
    });
  const submit = (sessionId: string, body: string, type = 'application/x-www-form-urlencoded') =>
    bed.http.call('POST', `/payments/test-checkout/${sessionId}`, {
      identity: anonymous(),
      body,
      headers: { 'content-type': type, accept: 'text/html,*/*' },
    });

  for (const [definition, body] of [
    [paymentRoutes.showTestCheckout, undefined],
    [paymentRoutes.submitTestCheckout, 'action=pay'],
  ] as const)
    it(`${definition.operationId} answers only calls from the gateway`, async () => {
      const path = `/payments/test-checkout/${await bed.session()}`;
      const answer = await bed.http.call(definition.method, path, body ? { body } : {});
      expect(answer.status).toBe(401);
    });

  it('shows items and the total, escaped, without a script, to nobody else’s frame', async () => {
    const sessionId = await bed.session({
      ...order,
      items: [{ name: '<script>alert("1")</script>', amount: 123456 }],
      currency: 'eur',
    });
    const page = await show(sessionId);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' http://localhost:3000; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page.body).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
    expect(page.body).not.toContain('<script');
    expect(page.body).toContain('€1,234.56');
  });

  it.each([
    ['jpy', 1500, '¥1,500'],
    ['kwd', 12_340, 'KWD 12.340'],
    ['isk', 50_000, 'ISK 500.00'],
    ['usd', 5, '$0.05'],
  ])('writes an amount of %s as it is', async (currency, amount, text) => {
    const sessionId = await bed.session({ ...order, currency, items: [{ name: 'x', amount }] });
    expect((await show(sessionId)).body.replaceAll('\u00a0', ' ')).toContain(text);
  });

  it('leads back with the session, keeping the query and hash of returnUrl', async () => {
    const sessionId = await bed.session();
    const canceled = await bed.press(sessionId, 'cancel');
    expect(canceled.status).toBe(303);
    expect(canceled.headers.get('location')).toBe(
      `http://localhost:3000/thanks?from=cart&session_id=${sessionId}&canceled=1#top`,
    );
    expect((await bed.verify(sessionId)).body.payment.status).toBe('open');
    const paid = await bed.press(sessionId, 'pay');
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(
      `http://localhost:3000/thanks?from=cart&session_id=${sessionId}#top`,
    );
    expect(await bed.press(sessionId, 'cancel')).toMatchObject({ status: 409 });
    expect((await show(sessionId)).body).toContain('Already paid');
  });

  it('fails once, as a card that is refused, and can not be paid then', async () => {
    await bed.take('payment.changed');
    const sessionId = await bed.session();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => bed.press(sessionId, 'fail')),
    );
    for (const { status, headers } of answers) {
      expect(status).toBe(303);
      expect(headers.get('location')).toBe(
        `http://localhost:3000/thanks?from=cart&session_id=${sessionId}#top`,
      );
    }
    expect(await bed.take('payment.changed')).toHaveLength(1);
    expect((await bed.verify(sessionId)).body).toMatchObject({
      paid: false,
      payment: { status: 'failed' },
    });
    expect(await bed.press(sessionId, 'pay')).toMatchObject({
      status: 409,
      body: expect.stringContaining('Payment failed'),
    });
  });

  it('is paid or fails, never both, where both are pressed at the same instant', async () => {
    const sessionId = await bed.session();
    await Promise.all(['pay', 'fail', 'pay', 'fail'].map((act) => bed.press(sessionId, act)));
    const { body } = await bed.verify(sessionId);
    expect(['paid', 'failed']).toContain(body.payment.status);
    expect(body.paid).toBe(body.payment.status === 'paid');
  });

  it('is paid once by ten presses at the same instant, with one event', async () => {
    await bed.take('payment.changed');
    const sessionId = await bed.session();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => bed.press(sessionId, 'pay')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await bed.take('payment.changed')).toHaveLength(1);
  });

  it('can not be paid once it has expired, and says so', async () => {
    const sessionId = await bed.session();
    bed.clock.pass(23 * 60 * 60 * 1000);
    expect(await show(sessionId)).toMatchObject({
      status: 200,
      body: expect.stringContaining('no longer valid'),
    });
    const late = await bed.press(sessionId, 'pay');
    expect(late).toMatchObject({ status: 409, body: expect.stringContaining('Expired') });
    expect((await bed.verify(sessionId)).body).toMatchObject({ paid: false });
  });

  it("is a 404 page for made-up sessions and another project's", async () => {
    const sessionId = await bed.session();
    for (const answer of [
      await show('cs_test_made-up'),
      await show('%00'),
      await show(sessionId, anonymous({ project: otherProject })),
      await bed.press(sessionId, 'pay', anonymous({ project: otherProject })),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('no such') });
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    expect((await bed.verify(sessionId)).body.payment.status).toBe('open');
  });

  it('tells programs of failures as every other route does', async () => {
    const path = '/payments/test-checkout/cs_test_made-up';
    expect(await bed.http.call('GET', path, { identity: anonymous() })).toMatchObject({
      status: 404,
      body: { code: 'not_found', error: 'There is no such payment.' },
    });
    expect(await bed.http.call('POST', path, { identity: anonymous(), body: {} })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
  });

  it('refuses forms that are none, as pages', async () => {
    const sessionId = await bed.session();
    expect(await submit(sessionId, 'action=steal')).toMatchObject({ status: 400 });
    expect(await submit(sessionId, '')).toMatchObject({ status: 400 });
    expect(await submit(sessionId, 'action[]=pay&action[]=pay')).toMatchObject({ status: 400 });
    expect(await submit(sessionId, 'action=pay&action=pay')).toMatchObject({ status: 400 });
    expect(await submit(sessionId, '{"action":"pay"}', 'application/json')).toMatchObject({
      status: 415,
    });
    expect(await submit(sessionId, `action=pay&x=${'x'.repeat(5000)}`)).toMatchObject({
      status: 413,
    });
    const fields = Array.from({ length: 100 }, (_, n) => `f${n}=1`).join('&');
    expect(await submit(sessionId, `action=pay&${fields}`)).toMatchObject({ status: 413 });
    expect((await bed.verify(sessionId)).body.payment.status).toBe('open');
  });
});
