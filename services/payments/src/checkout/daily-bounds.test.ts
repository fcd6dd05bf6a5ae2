import { anonymous, asKey, asUser } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { order, otherProject } from '../testing/test-bed.ts';
import { liveKey } from '../testing/test-stripe.ts';
import { testsPerDay } from './daily-bounds.ts';

const dayMs = 24 * 60 * 60 * 1000;
const userId = '018f0000-0000-7000-8000-00000000dddd';
const [here, there] = ['192.0.2.7', '192.0.2.8'];
/** Two projects of one owner, and one of another. */
const project = { ...otherProject, ownerId: '018f0000-0000-7000-8000-0000000000f1' };
const second = { ...project, id: 'secondproject', number: 1003 };
const stranger = {
  ...project,
  id: 'strangersproject',
  number: 1004,
  ownerId: '018f0000-0000-7000-8000-0000000000f2',
};

describe('checkouts of a day that move no money', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    // No midnight in between.
    bed.clock.pass(dayMs - (bed.clock.now() % dayMs));
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM window_counts'));

  const begin = async (identity: ReturnType<typeof anonymous>) =>
    (await bed.checkout(order, { identity })).status;
  /** As if whatever has been counted had been so often. */
  const count = (times: number) =>
    bed.database.query('UPDATE window_counts SET count = $1', [times]);

  it('of one address end, in all projects, and begin again the next day', async () => {
    expect(await begin(anonymous({ project, ip: here }))).toBe(200);
    await count(testsPerDay.address - 1);
    const three = [project, second, stranger].map((one) =>
      begin(anonymous({ project: one, ip: here })),
    );
    expect((await Promise.all(three)).sort()).toEqual([200, 429, 429]);
    const before = await bed.database.query('SELECT FROM payments');
    const refused = await bed.checkout(order, {
      identity: asUser(userId, { project: stranger, ip: here }),
    });
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'Too many test checkouts today.', code: 'too_many_attempts' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await bed.database.query('SELECT FROM payments')).toHaveLength(before.length);
    expect(await begin(anonymous({ project, ip: there }))).toBe(200);
    bed.clock.pass(dayMs);
    expect(await begin(anonymous({ project, ip: here }))).toBe(200);
  });

  it('of visitors leave half to the owner, and those of an owner end too', async () => {
    expect(await begin(anonymous({ project, ip: here }))).toBe(200);
    await count(testsPerDay.visitors);
    expect(await begin(anonymous({ project, ip: there }))).toBe(429);
    expect(await begin(asUser(userId, { project, ip: there }))).toBe(429);
    expect(await begin(asKey({ project }))).toBe(200);
    expect(await begin(anonymous({ project: second, ip: there }))).toBe(200);
    await count(testsPerDay.owner);
    expect(await begin(asKey({ project: second }))).toBe(429);
    expect(await begin(asKey({ project: stranger }))).toBe(200);
  });

  it('are those with test keys too, and none with live keys', async () => {
    expect(await begin(anonymous({ ip: here }))).toBe(200);
    await count(testsPerDay.address);
    expect(await begin(anonymous({ ip: here }))).toBe(429);
    const set = await bed.owner('PUT', '/secrets/stripe', { secretKey: liveKey });
    expect(set.status).toBe(200);
    expect(await begin(anonymous({ ip: here }))).toBe(200);
  });
});
