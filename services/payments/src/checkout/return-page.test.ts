import { anonymous } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createStripeBed } from '../testing/stripe-bed.ts';
import {
  createTestBed,
  order,
  otherProject,
  publicUrl,
  type TestBed,
} from '../testing/test-bed.ts';

const prefix = `${publicUrl}/api/runtime/testproject`;
const returnUrl = 'https://shop.example/thanks?from="cart"&a=1#top';

let bed: TestBed;
afterEach(() => bed.close());
const open = (location: string | null, identity = anonymous()) => {
  if (!location?.startsWith(`${prefix}/payments/return/`)) throw new Error(`${location}`);
  return bed.http.call('GET', location.slice(prefix.length), {
    identity,
    headers: { accept: 'text/html' },
  });
};

describe('the way back to an address that nobody has verified', () => {
  it('leads over a page that names it, escaped, with one button and nothing automatic', async () => {
    bed = await createTestBed();
    const sessionId = await bed.session({ ...order, returnUrl });
    const canceled = await open((await bed.press(sessionId, 'cancel')).headers.get('location'));
    expect(canceled.body).toContain(
      `href="https://shop.example/thanks?from=%22cart%22&amp;a=1&amp;session_id=${sessionId}&amp;canceled=1#top"`,
    );
    const { headers } = await bed.press(sessionId, 'pay');
    const page = await open(headers.get('location'));
    expect(page.status).toBe(200);
    expect(page.headers.get('location')).toBeNull();
    expect(page.headers.get('refresh')).toBeNull();
    expect(page.body).not.toMatch(/http-equiv|<script/i);
    expect(page.body).toContain('<strong>shop.example</strong>');
    expect(page.body.match(/<(a|button|form)\b/g)).toEqual(['<a']);
    expect(page.body).toContain(
      `href="https://shop.example/thanks?from=%22cart%22&amp;a=1&amp;session_id=${sessionId}#top"`,
    );
  });

  it('takes its target from the payment alone', async () => {
    bed = await createTestBed();
    const sessionId = await bed.session({ ...order, returnUrl });
    const location = (await bed.press(sessionId, 'pay')).headers.get('location');
    const page = await open(`${location}&returnUrl=https://evil.example&url=//evil.example`);
    expect(page.body).not.toContain('evil.example');
    for (const answer of [
      await open(location, anonymous({ project: otherProject })),
      await open(`${prefix}/payments/return/018f0000-0000-7000-8000-00000000ffff`),
      await open(`${prefix}/payments/return/%00`),
    ])
      expect(answer.status).toBe(404);
  });

  it('is the same for Stripe, after paying and after cancelling', async () => {
    const stripeBed = await createStripeBed();
    bed = stripeBed;
    const sessionId = await bed.session({ ...order, returnUrl });
    const sent = stripeBed.stripe.requests.findLast(({ path }) => path.endsWith('/sessions'));
    const fields = new URLSearchParams(sent?.body);
    const { id } = (await bed.verify(sessionId)).body.payment;
    expect(fields.get('success_url')).toBe(
      `${prefix}/payments/return/${id}?session_id={CHECKOUT_SESSION_ID}`,
    );
    expect((await open(fields.get('cancel_url'))).body).toContain('canceled=1#top"');
    expect((await open(fields.get('success_url'))).body).toContain(`session_id=${sessionId}#top"`);
  });
});

describe('the way back to an address that is known', () => {
  it.each([
    'http://localhost:3000/x',
    'http://shop.localhost/x',
    'http://127.0.0.1:5173/x',
    'http://[::1]:5173/x',
    `${publicUrl}/examples/shop/`,
  ])('is direct: %s', async (known) => {
    bed = await createTestBed();
    const sessionId = await bed.session({ ...order, returnUrl: known });
    const { headers } = await bed.press(sessionId, 'pay');
    expect(headers.get('location')).toBe(`${known}?session_id=${sessionId}`);
  });

  it('is not direct where the project lists an origin that is not verified', async () => {
    bed = await createTestBed({ allowedOrigins: ['https://shop.example'] });
    const sessionId = await bed.session({ ...order, returnUrl: 'https://shop.example/x' });
    const { headers } = await bed.press(sessionId, 'pay');
    expect(headers.get('location')).toContain(`${prefix}/payments/return/`);
  });

  it('is direct where the origin is verified, and that origin alone', async () => {
    bed = await createTestBed({ verifiedOrigins: ['https://shop.example'] });
    const wayBack = async (target: string) => {
      const sessionId = await bed.session({ ...order, returnUrl: target });
      const { headers } = await bed.press(sessionId, 'pay');
      return headers.get('location')?.replace(sessionId, 'ID');
    };
    expect(await wayBack('https://shop.example/x')).toBe('https://shop.example/x?session_id=ID');
    for (const other of ['http://shop.example/x', 'https://shop.example:8443/x'])
      expect(await wayBack(other)).toContain(`${prefix}/payments/return/`);
  });

  it('is no other than one that the project lists, verified or not', async () => {
    bed = await createTestBed({
      allowedOrigins: ['https://listed.example'],
      verifiedOrigins: ['https://shop.example'],
    });
    const answer = await bed.checkout({ ...order, returnUrl: 'https://shop.example/x' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it.each([
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://mylocalhost/',
  ])('is not taken for it: %s', async (elsewhere) => {
    bed = await createTestBed();
    const sessionId = await bed.session({ ...order, returnUrl: elsewhere });
    const { headers } = await bed.press(sessionId, 'pay');
    expect((await open(headers.get('location'))).status).toBe(200);
  });
});
