import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, upstreamModes } from './platform-under-test.ts';

const order = {
  items: [{ name: 'Mug', amount: 1999, quantity: 2 }],
  returnUrl: 'http://localhost:3000/thanks?a=1#top',
};

describe.each(upstreamModes)('payments through the gateway (%s)', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
  });
  afterAll(() => platform.stop());

  /** The page is asked for as a browser does, where this platform listens. */
  const onPage = (url: string, form?: string) =>
    fetch(platform.url + new URL(url).pathname, {
      redirect: 'manual',
      ...(form === undefined
        ? {}
        : {
            method: 'POST',
            body: form,
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              origin: 'null',
              authorization: 'Bearer whatever',
            },
          }),
    });

  it('lead from checkout over the hosted page back to the shop, to the owner’s books', async () => {
    const { id, owner, api } = await platform.newProject();
    const { status, body } = await api('POST', '/payments/checkout', { body: order });
    expect(status).toBe(200);

    const page = await onPage(body.url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(
      /form-action 'self' http:\/\/localhost:3000;/,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(await page.text()).toContain('$39.98');

    const paid = await onPage(body.url, 'action=pay');
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(
      `http://localhost:3000/thanks?a=1&session_id=${body.sessionId}#top`,
    );
    const verified = await api('GET', `/payments/verify?session_id=${body.sessionId}`);
    expect(verified.body).toMatchObject({ paid: true, payment: { amount: 3998 } });

    const { token } = owner;
    const books = await platform.control('GET', `/projects/${id}/payments`, { token });
    expect(books.body.items).toMatchObject([{ id: verified.body.payment.id, status: 'paid' }]);
    const refund = `/projects/${id}/payments/${verified.body.payment.id}/refund`;
    expect(await platform.control('POST', refund, { token })).toMatchObject({
      status: 200,
      body: { status: 'refunded' },
    });
    const stranger = await platform.signUp('platform');
    for (const path of [`/projects/${id}/payments`, `/projects/${id}/secrets/stripe`])
      expect(await platform.control('GET', path, { token: stranger.token })).toMatchObject({
        status: 404,
      });
  });

  it('lead over our page, which names the target, where nobody has verified it', async () => {
    const { body } = await platform.runtime()('POST', '/payments/checkout', {
      body: { ...order, returnUrl: 'https://shop.example/thanks' },
    });
    const paid = await onPage(body.url, 'action=pay');
    const page = await onPage(paid.headers.get('location') ?? '');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(
      `href="https://shop.example/thanks?session_id=${body.sessionId}"`,
    );
  });

  it('refuse a form that is too large, an unknown session and an unsigned webhook', async () => {
    const { body } = await platform.runtime()('POST', '/payments/checkout', { body: order });
    expect((await onPage(body.url, `action=pay&x=${'x'.repeat(5000)}`)).status).toBe(413);
    expect((await onPage(`${body.url}x`)).status).toBe(404);
    expect(await platform.runtime()('POST', '/payments/webhook', { body: {} })).toMatchObject({
      status: 400,
      body: { code: 'invalid_signature' },
    });
  });
});
