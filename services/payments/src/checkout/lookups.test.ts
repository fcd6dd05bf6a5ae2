import { anonymous, asOwner, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { order, otherProject } from '../testing/test-bed.ts';
import { secretKey } from '../testing/test-stripe.ts';

const project = { ...otherProject, ownerId: '018f0000-0000-7000-8000-0000000000f1' };

describe('look-ups of open payments', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
    const owner = asOwner({ project, userId: project.ownerId });
    const set = await bed.owner('PUT', '/secrets/stripe', { secretKey }, owner);
    expect(set.status).toBe(200);
  });
  afterAll(() => bed.close());

  it('are few at a time for one owner, and none of others waits for them', async () => {
    const sessions: string[] = [];
    for (let count = 0; count < 12; count++) sessions.push(await bed.session());
    const other = await bed.session(order, anonymous({ project }));
    const lookedUp = (among: string[]) =>
      bed.stripe.requests.filter(
        ({ method, path }) => method === 'GET' && among.some((id) => path.includes(id)),
      ).length;
    bed.stripe.behave('holding');
    const verified = sessions.map((sessionId) => bed.verify(sessionId));
    await until(() => lookedUp(sessions) >= 4);
    const others = bed.verify(other, anonymous({ project }));
    await until(() => lookedUp([other]) === 1);
    expect(lookedUp(sessions)).toBeLessThan(sessions.length);
    bed.stripe.behave(null);
    for (const { status } of await Promise.all([...verified, others])) expect(status).toBe(200);
  });
});
