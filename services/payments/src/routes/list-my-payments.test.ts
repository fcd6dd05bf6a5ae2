import { paymentRoutes } from '@backlot/contract';
import { anonymous, asKey, asOperator, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, order, otherProject, type TestBed } from '../testing/test-bed.ts';

const ada = '018f0000-0000-7000-8000-0000000000a1';
const bob = '018f0000-0000-7000-8000-0000000000b1';

describe('listMyPayments', () => {
  let bed: TestBed;
  const sessions: Record<string, string[]> = { ada: [], all: [] };
  beforeAll(async () => {
    bed = await createTestBed();
    for (const identity of [asUser(ada), asUser(bob), anonymous(), asUser(ada)]) {
      const session = await bed.session(order, identity);
      sessions.all?.unshift(session);
      if (identity.userId === ada) sessions.ada?.unshift(session);
      bed.clock.pass(10);
    }
    await bed.session(order, asUser(ada, { project: otherProject }));
  });
  afterAll(() => bed.close());
  const list = async (identity = asUser(ada), query = '') =>
    (await bed.call('GET', `/payments${query}`, { identity })).body;
  const sessionIds = ({ items }: { items: { sessionId: string }[] }) =>
    items.map(({ sessionId }) => sessionId);

  refusesStrangers(
    paymentRoutes.listMyPayments,
    () => bed.http,
    () => ({ path: '/payments' }),
  );

  it('lists one’s own, newest first, page by page', async () => {
    expect(sessionIds(await list())).toEqual(sessions.ada);
    const first = await list(asUser(ada), '?limit=1');
    expect(first).toMatchObject({ hasMore: true });
    const rest = await list(asUser(ada), `?limit=1&cursor=${first.nextCursor}`);
    expect([...sessionIds(first), ...sessionIds(rest)]).toEqual(sessions.ada);
    expect(sessionIds(await list(asUser('018f0000-0000-7000-8000-0000000000c1')))).toEqual([]);
  });

  it('lists all of the project for its owner, keys and the operator', async () => {
    for (const identity of [asOwner(), asKey(), asOperator()])
      expect(sessionIds(await list(identity))).toEqual(sessions.all);
  });
});
