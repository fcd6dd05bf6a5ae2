import { paymentRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createStripeBed,
  eventText,
  type StripeBed,
  signature,
  webhookSecret,
  webhookSession,
} from '../testing/stripe-bed.ts';
import { masterKey, otherProject, publicUrl } from '../testing/test-bed.ts';
import { narrowKey, readingKey, secretKey } from '../testing/test-stripe.ts';

const path = '/secrets/stripe';
const hourMs = 60 * 60 * 1000;

describe("a project's own keys", () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
  });
  afterAll(() => bed.close());

  for (const route of [
    paymentRoutes.setStripeSecret,
    paymentRoutes.getStripeSecret,
    paymentRoutes.deleteStripeSecret,
  ])
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/testproject${path}`, body: { secretKey } }),
    );

  it('show only their last characters, and are stored sealed', async () => {
    const shown = {
      name: 'stripe',
      hint: '…1234',
      mode: 'test',
      updatedAt: expect.any(String),
    };
    expect(await bed.owner('PUT', path, { secretKey, webhookSecret })).toMatchObject({
      status: 200,
    });
    expect((await bed.owner('GET', path)).body).toEqual(shown);
    const stored = JSON.stringify(await bed.database.query('SELECT * FROM secrets'));
    const [row] = await bed.database.query<{ sealed: Buffer }>('SELECT sealed FROM secrets');
    for (const secret of [secretKey, webhookSecret]) {
      expect(stored).not.toContain(secret);
      expect(row?.sealed.includes(secret)).toBe(false);
    }
  });

  it('of a preview are test keys alone', async () => {
    const before = await bed.owner('GET', path);
    const identity = asOwner();
    const answer = await bed.call('PUT', `/platform/projects/testproject${path}`, {
      identity: { ...identity, project: { ...identity.project, isPreview: true } },
      body: { secretKey: 'sk_live_abcdefgh1234' },
    });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect(answer.body.error).toContain('test keys only');
    expect((await bed.owner('GET', path)).body).toEqual(before.body);
  });

  it('are checked with the provider first', async () => {
    const before = await bed.owner('GET', path);
    for (const wrong of ['sk_live_notthiskey', narrowKey, readingKey])
      expect(await bed.owner('PUT', path, { secretKey: wrong })).toMatchObject({
        status: 400,
        body: {
          code: 'invalid_secret',
          error: expect.stringContaining('"secretKey"'),
          hint: expect.stringContaining('write Checkout Sessions and Refunds'),
        },
      });
    for (const body of [
      {},
      { secretKey: 'pk_test_public' },
      { secretKey, webhookSecret: 'first' },
      { secretKey, more: 1 },
      { secretKey: `sk_test_${'x'.repeat(300)}` },
    ])
      expect(await bed.owner('PUT', path, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
    for (const [how, status] of [
      ['failing', 502],
      ['silent', 504],
    ] as const) {
      bed.stripe.behave(how);
      expect(await bed.owner('PUT', path, { secretKey })).toMatchObject({ status });
      bed.stripe.behave(null);
    }
    expect(await bed.owner('GET', path)).toEqual({ ...before, headers: expect.anything() });
  });

  it("open for the project alone: another one's payers see the test checkout", async () => {
    const identity = asOwner({ project: otherProject });
    const count = bed.stripe.requests.length;
    const { body } = await bed.checkout(undefined, { identity });
    expect(body.url).toContain(`${publicUrl}/api/runtime/otherproject/payments/test-checkout/`);
    expect(bed.stripe.requests).toHaveLength(count);
    expect((await bed.owner('GET', path, undefined, identity)).body).toEqual({
      name: 'stripe',
      testCheckout: true,
    });
    expect(await bed.owner('DELETE', path, undefined, identity)).toMatchObject({ status: 404 });
    const stolen = await bed.http.call('GET', `/platform/projects/testproject${path}`, {
      identity,
    });
    expect(stolen).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
  });

  it('take both webhook secrets for 24 hours after one replaced the other', async () => {
    const statusSignedWith = async (secret: string) => {
      const sessionId = await bed.session();
      const text = eventText({
        type: 'checkout.session.completed',
        object: webhookSession(sessionId),
      });
      return (await bed.webhook(text, signature(text, secret, bed.clock.now()))).status;
    };
    const next = 'whsec_second';
    await bed.owner('PUT', path, { secretKey, webhookSecret: next });
    expect([await statusSignedWith(webhookSecret), await statusSignedWith(next)]).toEqual([
      200, 200,
    ]);
    bed.clock.pass(23 * hourMs);
    await bed.owner('PUT', path, { secretKey });
    expect([await statusSignedWith(webhookSecret), await statusSignedWith(next)]).toEqual([
      200, 200,
    ]);
    bed.clock.pass(hourMs + 1000);
    expect([await statusSignedWith(webhookSecret), await statusSignedWith(next)]).toEqual([
      400, 200,
    ]);
  });

  it('are sealed anew under the current master key on request, and open under the old one until then', async () => {
    const sealed = async () => {
      const [row] = await bed.database.query<{ sealed: Buffer }>('SELECT sealed FROM secrets');
      return row?.sealed.toString('hex');
    };
    const before = await sealed();
    const next = Buffer.alloc(32, 9);
    const rotated = await bed.withConfig({ masterKeys: [next, masterKey] });
    const identity = asOwner();
    const body = { items: [{ name: 'x', amount: 100 }], returnUrl: 'https://a.example' };
    const answer = await rotated.call('POST', '/payments/checkout', { identity, body });
    expect(answer.body.url).not.toContain('test-checkout');
    expect(await sealed()).toBe(before);
    const { operations } = rotated;
    expect(await operations.countSealed()).toMatchObject({ old: 1, lost: 0 });
    expect(await operations.reseal()).toMatchObject({ resealed: 1, old: 0, lost: 0 });
    expect(await sealed()).not.toBe(before);
    const withoutOld = await bed.withConfig({ masterKeys: [next] });
    expect(await withoutOld.call('POST', '/payments/checkout', { identity, body })).toMatchObject({
      status: 200,
    });
    const strange = await bed.withConfig({ masterKeys: [masterKey] });
    expect(await strange.call('POST', '/payments/checkout', { identity, body })).toMatchObject({
      status: 503,
      body: { code: 'secrets_unreadable' },
    });
    await rotated.call('GET', `/platform/projects/testproject${path}`, { identity });
  });
});
