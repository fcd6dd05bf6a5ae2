import { randomUUID } from 'node:crypto';
import { creditRoutes } from '@backlot/contract';
import { internalIdentity } from '@backlot/identity';
import { anonymous, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consumers, usageEvent } from '../testing/ledger.ts';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('getCredits', () => {
  let bed: TestBed;
  let countersFail = false;
  const usages: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed({
      monthlyCredits: 100,
      counters: (real) => ({
        load: (...values) => real.load(...values),
        book: (...values) => real.book(...values),
        held: (...values) => real.held(...values),
        async reserved(ownerId) {
          if (countersFail) throw new Error('counters away');
          return real.reserved(ownerId);
        },
      }),
    });
    const [consume] = consumers(bed, 1);
    await bed.service.loadOwner(ownerA);
    for (let n = 0; n < 5; n++) {
      const usage = usageEvent(bed, ownerA, { millicredits: 1000 + n });
      usages.push(usage.callId);
      await consume?.(usage);
    }
  });
  afterAll(() => bed.close());
  refusesStrangers(
    creditRoutes.getCredits,
    () => bed.http,
    () => ({ path: '/credits' }),
  );

  const get = async (query = '', ownerId = ownerA) =>
    bed.call('GET', `/platform/credits${query}`, { identity: await bed.owner(ownerId) });
  const asOperator = async (query: string) =>
    bed.call('GET', `/platform/credits${query}`, { identity: await bed.operator() });

  it('shows the balance, what is reserved, and every line, newest first, which sum to the balance', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      balanceMillicredits: 94_990,
      reservedMillicredits: 0,
      forecast: { days: 1, millicreditsPerDay: 0, endsAt: null },
      hasMore: false,
      nextCursor: null,
    });
    expect(body.items[0]).toEqual({
      id: expect.any(String),
      kind: 'debit',
      amountMillicredits: -1004,
      grantId: null,
      reason: null,
      projectId: 'someproject',
      requestId: usages[4],
      route: 'generateText',
      createdAt: new Date(bed.now()).toISOString(),
    });
    expect(body.items[5]).toMatchObject({
      kind: 'grant',
      amountMillicredits: 100_000,
      projectId: null,
      requestId: null,
      route: null,
    });
    const amounts = body.items.map(
      (item: { amountMillicredits: number }) => item.amountMillicredits,
    );
    expect(amounts.reduce((sum: number, amount: number) => sum + amount, 0)).toBe(94_990);
  });

  it('pages through lines of the same instant, each once', async () => {
    const seen: string[] = [];
    let query = '?limit=4';
    for (let page = 0; page < 2; page++) {
      const { body } = await get(query);
      seen.push(...body.items.map((item: { id: string }) => item.id));
      expect(body.hasMore).toBe(page === 0);
      query = `?limit=4&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual((await get()).body.items.map((item: { id: string }) => item.id));
    expect((await get('?limit=0')).body).toMatchObject({ items: [], hasMore: true });
  });

  it('shows an owner their own alone', async () => {
    const own = await get('', ownerB);
    expect(own.body).toMatchObject({ balanceMillicredits: 100_000 });
    expect(own.body.items).toHaveLength(1);
    expect((await get(`?ownerId=${ownerB}`, ownerB)).body).toEqual(own.body);
    expect(await get(`?ownerId=${ownerA}`, ownerB)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    const { nextCursor } = (await get('?limit=1')).body;
    expect(await get(`?cursor=${nextCursor}`, ownerB)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });

  it('shows the operator any owner, and opens no account for one who was never here', async () => {
    expect((await asOperator(`?ownerId=${ownerA.toUpperCase()}`)).body).toEqual((await get()).body);
    expect(await asOperator(`?ownerId=${randomUUID()}`)).toMatchObject({
      status: 200,
      body: { balanceMillicredits: 0, items: [], hasMore: false, nextCursor: null },
    });
    expect(await asOperator('')).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    const accounts = await bed.database.query('SELECT 1 FROM accounts WHERE owner_id IS NOT NULL');
    expect(accounts).toHaveLength(2);
  });

  it.each(['?limit=-1', '?limit=x', '?ownerId=x', '?cursor=x', '?cursor=%00'])(
    'refuses %s',
    async (query) => {
      expect((await get(query)).status).toBe(400);
    },
  );

  it('never fails on our side for a made-up cursor', async () => {
    const list = `credits of ${ownerA}`;
    const made = fc.tuple(fc.constant(list), fc.nat(), fc.stringMatching(/^[a-z0-9-]{1,64}$/));
    await fc.assert(
      fc.asyncProperty(made, async (position) => {
        const cursor = Buffer.from(JSON.stringify(position)).toString('base64url');
        expect((await get(`?cursor=${cursor}`)).status).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });

  it('says 503 and when to try again while the counters can not be asked', async () => {
    countersFail = true;
    const answer = await get();
    countersFail = false;
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  it('lets the gateway alone load an owner into the counters, and with that grants the month', async () => {
    const ownerId = randomUUID();
    const path = (id: string) => `/internal/credits/${id}/load`;
    const answer = await bed.call('POST', path(ownerId), { identity: internalIdentity });
    expect(answer).toMatchObject({ status: 200, body: { balanceMillicredits: 100_000, seq: 1 } });
    const request = { ownerId, callId: randomUUID(), wantMillicredits: 1e6, minMillicredits: 1000 };
    expect((await bed.counters.admit([], request)).reservation).toEqual({
      kind: 'reserved',
      millicredits: 100_000,
    });
    for (const id of ['x', '%00']) {
      const unknown = await bed.call('POST', path(id), { identity: internalIdentity });
      expect(unknown.status).toBe(404);
    }
    for (const identity of [null, anonymous(), await bed.owner(ownerA), await bed.operator()])
      expect((await bed.call('POST', path(randomUUID()), { identity })).status).toBe(401);
  });
});
