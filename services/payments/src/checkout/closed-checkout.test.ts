import { readFile } from 'node:fs/promises';
import { anonymous, asOwner } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, webhookSession } from '../testing/stripe-bed.ts';
import { createTestBed, order, otherProject, type TestBed } from '../testing/test-bed.ts';
import { liveKey, secretKey } from '../testing/test-stripe.ts';

const path = '/secrets/stripe';
const closed = {
  status: 409,
  body: {
    code: 'checkout_closed',
    hint: expect.stringContaining('PUT /api/platform/projects/<id>/secrets/stripe'),
  },
};

let bed: TestBed;
afterEach(() => bed.close());
const payment = async (sessionId: string) => (await bed.verify(sessionId)).body.payment;

describe('livemode of a payment', () => {
  it('is what Stripe says of the session', async () => {
    bed = await createStripeBed();
    expect(await payment(await bed.session())).toMatchObject({ livemode: false });
    await bed.owner('PUT', path, { secretKey: liveKey });
    const live = await bed.session();
    expect(await payment(live)).toMatchObject({ livemode: true });
    const { body } = await bed.owner('GET', '/payments');
    expect(body.items.map(({ livemode }: { livemode: boolean }) => livemode)).toEqual([
      true,
      false,
    ]);
  });

  it('is no webhook’s to change: what is signed for the other mode is about another session', async () => {
    const stripeBed = await createStripeBed();
    bed = stripeBed;
    const sessionId = await bed.session();
    const { id } = await payment(sessionId);
    await stripeBed.sendWebhook(
      JSON.stringify({
        id: 'evt_live',
        livemode: true,
        type: 'checkout.session.completed',
        data: { object: webhookSession(sessionId, { client_reference_id: id }) },
      }),
    );
    expect(await payment(sessionId)).toMatchObject({
      status: 'open',
      livemode: false,
      latePaidAt: null,
    });
  });

  it('is told of existing payments by their sessions; who has lost the keys stays closed', async () => {
    bed = await createTestBed();
    await bed.session();
    const live = await bed.session(order, asOwner({ project: otherProject }));
    await bed.database.query(
      "UPDATE payments SET provider = 'stripe', session_id = 'cs_live_1' WHERE session_id = $1",
      [live],
    );
    const migration = '../../migrations/0002_livemode_and_closed_checkouts.sql';
    await bed.ownerDatabase.query(await readFile(new URL(migration, import.meta.url), 'utf8'));
    expect(
      await bed.database.query('SELECT project_number, livemode FROM payments ORDER BY 1'),
    ).toEqual([
      { project_number: 1001, livemode: false },
      { project_number: 1002, livemode: true },
    ]);
    expect(await bed.checkout()).toMatchObject({ status: 200 });
    const other = asOwner({ project: otherProject });
    expect(await bed.checkout(order, { identity: other })).toMatchObject(closed);
  });

  it('is false for the test checkout, also once it is paid', async () => {
    bed = await createTestBed();
    const sessionId = await bed.session();
    await bed.press(sessionId, 'pay');
    expect(await payment(sessionId)).toMatchObject({ status: 'paid', livemode: false });
  });
});

describe('a project whose keys were deleted', () => {
  it('sells nothing until keys or the test checkout are chosen, and keeps its open sessions', async () => {
    bed = await createStripeBed();
    const before = await bed.session();
    expect(await bed.owner('PUT', path, { testCheckout: true })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect(await bed.owner('DELETE', path)).toMatchObject({ status: 200 });
    expect(await bed.owner('DELETE', path)).toMatchObject({ status: 404 });
    expect(await bed.checkout()).toMatchObject(closed);
    expect((await bed.checkout()).body.hint).toContain('{"testCheckout": true}');
    expect((await bed.owner('GET', path)).body).toEqual({ name: 'stripe', testCheckout: false });
    expect(await bed.database.query('SELECT 1 FROM payments')).toHaveLength(1);
    expect(await payment(before)).toMatchObject({ status: 'open' });
    const other = await bed.checkout(order, { identity: asOwner({ project: otherProject }) });
    expect(other.body.url).toContain('/test-checkout/');

    expect(await bed.owner('PUT', path, { testCheckout: true })).toMatchObject({
      status: 200,
      body: { name: 'stripe', testCheckout: true },
    });
    expect((await bed.owner('GET', path)).body).toEqual({ name: 'stripe', testCheckout: true });
    expect((await bed.checkout()).body.url).toContain('/test-checkout/');
    await bed.owner('PUT', path, { secretKey });
    expect((await bed.checkout()).body.url).not.toContain('/test-checkout/');
    await bed.owner('DELETE', path);
    expect(await bed.checkout()).toMatchObject(closed);
  });

  it.each([
    { testCheckout: false },
    { testCheckout: true, secretKey },
    { webhookSecret: 'whsec_alone' },
  ])('can not choose by %j', async (body) => {
    bed = await createTestBed();
    expect(await bed.owner('PUT', path, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });
});

describe('an installation without the test checkout', () => {
  it('refuses the payments of projects without keys, and names where to set them', async () => {
    bed = await createTestBed({ isTestCheckoutOn: false });
    expect(await bed.checkout()).toMatchObject(closed);
    expect(await bed.owner('PUT', path, { testCheckout: true })).toMatchObject(closed);
    expect((await bed.owner('GET', path)).body).toEqual({ name: 'stripe', testCheckout: false });
    expect(await bed.database.query('SELECT 1 FROM payments')).toEqual([]);
  });

  it('takes no play money for sessions that are still open', async () => {
    bed = await createTestBed();
    const sessionId = await bed.session();
    const closedNow = await bed.withConfig({ isTestCheckoutOn: false });
    const pressed = await closedNow.call('POST', `/payments/test-checkout/${sessionId}`, {
      identity: anonymous(),
      body: 'action=pay',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(pressed).toMatchObject(closed);
    expect(await payment(sessionId)).toMatchObject({ status: 'open' });
  });
});
