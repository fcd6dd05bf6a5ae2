import { asOperator, testProject } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed, webhookSecret } from '../testing/stripe-bed.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { liveKey, secretKey } from '../testing/test-stripe.ts';

const path = '/secrets/stripe';
const unverified = {
  status: 403,
  body: {
    code: 'owner_unverified',
    hint: expect.stringContaining('the mail that came at sign-up'),
  },
};

describe('a project whose owner is not verified', () => {
  let bed: StripeBed;
  afterEach(() => bed.close());
  const setUp = async () => {
    bed = await createStripeBed();
    bed.owners.unverified.add(testProject.ownerId);
  };

  it('gets no live keys, whoever sets them, and keeps those that it has', async () => {
    await setUp();
    const before = (await bed.owner('GET', path)).body;
    const asked = bed.stripe.requests.length;
    const restricted = liveKey.replace('sk_', 'rk_');
    for (const key of [liveKey, restricted])
      expect(await bed.owner('PUT', path, { secretKey: key, webhookSecret })).toMatchObject(
        unverified,
      );
    const byOperator = await bed.owner('PUT', path, { secretKey: liveKey }, asOperator());
    expect(byOperator).toMatchObject(unverified);
    expect(bed.stripe.requests).toHaveLength(asked);
    expect((await bed.owner('GET', path)).body).toEqual(before);
  });

  it('sells with test keys', async () => {
    await setUp();
    expect((await bed.owner('PUT', path, { secretKey })).status).toBe(200);
    expect((await bed.checkout()).status).toBe(200);
  });

  it('sells nothing with live keys that are there already, and all that is under way goes on', async () => {
    bed = await createStripeBed();
    await bed.owner('PUT', path, { secretKey: liveKey });
    const sessionId = await bed.session();
    bed.owners.unverified.add(testProject.ownerId);
    expect(await bed.checkout()).toMatchObject(unverified);
    expect(await bed.database.query('SELECT FROM payments')).toHaveLength(1);
    await bed.stripe.pay(sessionId);
    expect((await bed.verify(sessionId)).body).toMatchObject({ paid: true });
    bed.owners.unverified.clear();
    expect((await bed.checkout()).status).toBe(200);
  });

  it('may be one where nobody can tell: 503, and nothing is sold', async () => {
    bed = await createStripeBed();
    await bed.owner('PUT', path, { secretKey: liveKey });
    bed.owners.areUnavailable = true;
    for (const answer of [
      await bed.checkout(),
      await bed.owner('PUT', path, { secretKey: liveKey }),
    ])
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await bed.database.query('SELECT FROM payments')).toEqual([]);
  });
});

describe('the test checkout', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  it('asks nobody about the owner', async () => {
    bed = await createTestBed();
    bed.owners.areUnavailable = true;
    expect((await bed.checkout()).status).toBe(200);
  });
});
