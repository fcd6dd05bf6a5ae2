import { createHash } from 'node:crypto';
import { operatorRoutes } from '@backlot/contract';
import { asOperator, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, platform, type TestBed } from '../testing/test-bed.ts';

const hashToken = (token: string) => createHash('sha256').update(token).digest('base64url');
const path = '/platform/operator-tokens';
const someId = '018f0000-0000-7000-8000-000000000000';
const identity = asOperator({ project: platform });
const asAnn = asOperator({ project: platform, operator: { name: 'ann', scope: 'admin' } });

describe('operators’ tokens', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM operator_tokens'));

  const create = (body: unknown, as = identity, headers: Record<string, string> = {}) =>
    bed.call('POST', path, { identity: as, body, headers });
  const revoke = (id: string) => bed.call('DELETE', `${path}/${id}`, { identity });
  const list = async () => (await bed.call('GET', path, { identity })).body.items;
  const find = (token: string) => bed.service.directories.operators.findOperator(hashToken(token));

  for (const [route, rest, body] of [
    [operatorRoutes.getOperator, '/operator', undefined],
    [operatorRoutes.createOperatorToken, '/operator-tokens', { name: 'ann', scope: 'read' }],
    [operatorRoutes.listOperatorTokens, '/operator-tokens', undefined],
    [operatorRoutes.revokeOperatorToken, `/operator-tokens/${someId}`, undefined],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: rest, body }),
    );

  it('are shown once, found by their hash, and noted with who made them', async () => {
    const { status, body } = await create({ name: 'on-call.2', scope: 'support' }, asAnn);
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'on-call.2',
        scope: 'support',
        token: expect.stringMatching(/^bo_[A-Za-z0-9_-]{43}$/),
        createdAt: new Date(bed.now()).toISOString(),
        createdBy: 'ann',
        expiresAt: new Date(bed.now() + 90 * dayMs).toISOString(),
        lastUsedAt: null,
      },
    ]);
    const { token, ...shown } = body;
    expect(await list()).toEqual([shown]);
    expect(await find(token)).toEqual({
      name: 'on-call.2',
      scope: 'support',
      expiresAtMs: bed.now() + 90 * dayMs,
    });
    expect(await find(`${token}x`)).toBeNull();
    expect(await bed.service.directories.operators.findOperator('not a hash')).toBeNull();
  });

  it('are stored nowhere, and shown again to nobody but the operator who repeats the call', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await create({ name: 'ann', scope: 'read' }, asAnn, headers);
    expect((await create({ name: 'ann', scope: 'read' }, asAnn, headers)).body).toEqual(first.body);
    const ofOther = await create({ name: 'ann', scope: 'read' }, identity, headers);
    expect(ofOther).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const secret = String(first.body.token).slice(3);
    const stored = await bed.database.query<{ text: string }>(
      `SELECT row_to_json(operator_tokens)::text AS text FROM operator_tokens
       UNION ALL SELECT row_to_json(outbox)::text FROM outbox
       UNION ALL SELECT encode(sealed_answer, 'escape') FROM idempotency`,
    );
    expect(stored.length).toBeGreaterThan(1);
    expect(stored.filter(({ text }) => text.includes(secret))).toEqual([]);
  });

  it('have a name that no other has, whoever asks at the same instant, until they are revoked', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create({ name: 'ann', scope: 'read' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const { id, token } = answers.find(({ status }) => status === 201)?.body ?? {};
    await bed.takeEvents();
    expect(await revoke(id)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await find(token)).toBeNull();
    expect(await bed.takeEvents()).toMatchObject([
      { topic: 'operator-token.revoked', payload: { tokenHash: hashToken(token) } },
    ]);
    expect(await create({ name: 'ann', scope: 'admin' })).toMatchObject({ status: 201 });
    for (const unknown of [id, someId, 'x', "'"])
      expect(await revoke(unknown)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('are at most 100, under parallel calls', async () => {
    await bed.database.query(
      `INSERT INTO operator_tokens SELECT gen_random_uuid(), 'n' || n, sha256(n::text::bytea),
              'read', now(), 'bootstrap', now() FROM generate_series(1, 97) n`,
    );
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => create({ name: `more-${n}`, scope: 'read' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject({ status: 403, body: { code: 'limit_reached' } });
    expect(await list()).toHaveLength(100);
  });

  it('tell when they were used last, to within five minutes, without a write for each look-up', async () => {
    const { body } = await create({ name: 'used', scope: 'read' });
    const versionOfRow = () => bed.database.query('SELECT xmin::text FROM operator_tokens');
    await find(body.token);
    const firstUse = new Date(bed.now()).toISOString();
    const version = await versionOfRow();
    bed.pass(4 * 60_000);
    await find(body.token);
    expect([await versionOfRow(), (await list())[0].lastUsedAt]).toEqual([version, firstUse]);
    bed.pass(60_000);
    await find(body.token);
    expect((await list())[0].lastUsedAt).toBe(new Date(bed.now()).toISOString());
  });

  it('say as whom they call', async () => {
    const own = (as: typeof identity) => bed.call('GET', '/platform/operator', { identity: as });
    expect((await own(asAnn)).body).toEqual({ name: 'ann', scope: 'admin' });
    const { operator: _, ...ofOlderGateway } = identity;
    expect((await own(ofOlderGateway)).body).toEqual({ name: 'bootstrap', scope: 'admin' });
  });

  it.each([
    {},
    { name: 'ann' },
    { scope: 'read' },
    { name: '', scope: 'read' },
    { name: 'a'.repeat(64), scope: 'read' },
    { name: 'Ann', scope: 'read' },
    { name: 'two words', scope: 'read' },
    { name: 'bootstrap', scope: 'read' },
    { name: '-ann', scope: 'read' },
    { name: 'ann\n', scope: 'read' },
    { name: 'ann', scope: 'owner' },
    { name: 'ann', scope: ['read'] },
    { name: 'ann', scope: 'read', token: 'bo_mine' },
    { name: 'ann', scope: 'read', expiresAt: '2020-01-01T00:00:00Z' },
    { name: 'ann', scope: 'read', expiresAt: '2999-01-01T00:00:00Z' },
    { name: 'ann', scope: 'read', expiresAt: 'never' },
    { name: 'ann', scope: 'read', expiresAt: null },
  ])('are refused as %j', async (body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await list()).toEqual([]);
  });
});
