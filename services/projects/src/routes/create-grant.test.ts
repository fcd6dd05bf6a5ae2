import { randomUUID } from 'node:crypto';
import { creditRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { creditHistory, sumItems } from '../testing/ledger.ts';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('createGrant', () => {
  let bed: TestBed;
  let ownerId: string;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    ownerId = randomUUID();
  });
  refusesStrangers(
    creditRoutes.createGrant,
    () => bed.http,
    () => ({ path: '/credits/grants', body: { ownerId: ownerA, credits: 1, reason: 'Mine' } }),
  );

  const create = async (body: unknown, headers: Record<string, string> = {}) =>
    bed.call('POST', '/platform/credits/grants', { identity: await bed.operator(), body, headers });

  it('adds whole credits to the balance and says what was granted', async () => {
    const { status, body } = await create({ ownerId, credits: 25, reason: 'Sorry' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      ownerId,
      credits: 25,
      reason: 'Sorry',
      expiresAt: null,
      createdAt: new Date(bed.now()).toISOString(),
    });
    expect((await creditHistory(bed, ownerId)).balance).toBe(25_000);
    expect((await bed.service.loadOwner(ownerId)).balanceMillicredits).toBe(25_000);
  });

  it('answers 404 for an owner that does not exist, and books nothing', async () => {
    bed.owners.unknown.add(ownerId);
    expect(await create({ ownerId, credits: 25, reason: 'Sorry' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const account = 'SELECT 1 FROM accounts WHERE owner_id = $1';
    expect(await bed.database.query(account, [ownerId])).toEqual([]);
  });

  it('answers 503 where owners can not be looked up', async () => {
    bed.owners.areUnavailable = true;
    const answer = await create({ ownerId, credits: 25, reason: 'Sorry' });
    bed.owners.areUnavailable = false;
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });

  it('grants once for one Idempotency-Key, also when calls with it come at once', async () => {
    const body = { ownerId, credits: 5, reason: 'Once' };
    const key = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(body, key)));
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    const replay = await create(body, key);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect((await creditHistory(bed, ownerId)).balance).toBe(5000);
    expect((await create({ ...body, credits: 6 }, key)).status).toBe(409);
  });

  it('adds up grants that come at once', async () => {
    await Promise.all(
      Array.from({ length: 24 }, () => create({ ownerId, credits: 3, reason: 'Each' })),
    );
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(72_000);
    expect(sumItems(items)).toBe(72_000);
  });

  it('lets a grant end at a stated time, which must lie ahead', async () => {
    const expiresAt = new Date(bed.now() + 5000).toISOString();
    const grant = { ownerId, credits: 4, reason: 'Trial', expiresAt };
    expect((await create(grant)).body.expiresAt).toBe(expiresAt);
    for (const past of [bed.now(), bed.now() - 1]) {
      const refused = await create({ ...grant, expiresAt: new Date(past).toISOString() });
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(refused.body.error).toContain('"expiresAt"');
    }
    bed.pass(5000);
    expect((await creditHistory(bed, ownerId)).balance).toBe(0);
  });

  it('refuses more grants than a booking may have to look through', async () => {
    await bed.service.loadOwner(ownerId);
    await bed.database.query(
      `INSERT INTO grants (id, owner_account, amount_millicredits, remaining_millicredits, reason, created_at)
       SELECT gen_random_uuid(), number, 1000, 1000, 'Many', now() FROM accounts, generate_series(1, 1000)
        WHERE owner_id = $1`,
      [ownerId],
    );
    expect(await create({ ownerId, credits: 1, reason: 'One more' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
  });

  it.each([
    [{}, 'ownerId'],
    [{ ownerId: 'x', credits: 1, reason: 'a' }, 'ownerId'],
    [{ ownerId: ownerA, credits: 0, reason: 'a' }, 'credits'],
    [{ ownerId: ownerA, credits: -5, reason: 'a' }, 'credits'],
    [{ ownerId: ownerA, credits: 0.001, reason: 'a' }, 'credits'],
    [{ ownerId: ownerA, credits: 1e12, reason: 'a' }, 'credits'],
    [{ ownerId: ownerA, credits: '5', reason: 'a' }, 'credits'],
    [{ ownerId: ownerA, credits: 1, reason: '' }, 'reason'],
    [{ ownerId: ownerA, credits: 1, reason: 'a\0' }, 'reason'],
    [{ ownerId: ownerA, credits: 1, reason: 'a', expiresAt: 'soon' }, 'expiresAt'],
    [{ ownerId: ownerA, credits: 1, reason: 'a', expiresAt: '2030-02-30T00:00:00Z' }, 'expiresAt'],
  ])('refuses %j, naming %s, and grants nothing', async (body, field) => {
    const answer = await create(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
    expect(
      await bed.database.query('SELECT 1 FROM accounts WHERE owner_id = $1', [ownerA]),
    ).toEqual([]);
  });

  it('never fails on our side, whatever is sent', async () => {
    const body = fc.record(
      {
        ownerId: fc.oneof(fc.constant(ownerId), fc.anything()),
        credits: fc.oneof(fc.integer(), fc.double()),
        reason: fc.string({ unit: 'binary', maxLength: 600 }),
        expiresAt: fc.oneof(
          fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
          fc.string(),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        expect(
          (
            await create(
              JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? 0 : field)),
            )
          ).status,
        ).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });
});
