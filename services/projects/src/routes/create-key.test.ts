import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

const hashKey = (key: string) => createHash('sha256').update(key).digest('base64url');

describe('createKey', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed({ maxKeysPerProject: 5 });
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    id = await bed.project();
  });

  const create = async (body: unknown, headers: Record<string, string> = {}) =>
    bed.call('POST', `/platform/projects/${id}/keys`, {
      identity: await bed.owner(ownerA, id),
      body,
      headers,
    });

  it('answers a key that the directory then finds by its hash, for its project', async () => {
    const { status, body } = await create({ name: 'Server' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Server',
      key: expect.stringMatching(/^bk_[A-Za-z0-9_-]{43}$/),
      scopes: ['read', 'write'],
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
    });
    const project = await bed.service.directories.projects.findProject(id);
    expect(await bed.service.directories.projects.findKey(hashKey(body.key))).toEqual({
      id: body.id,
      projectNumber: project?.number,
      scopes: ['read', 'write'],
    });
  });

  it('tells the directory its scopes and its end', async () => {
    const expiresAt = new Date(bed.now() + 60_000).toISOString();
    const { status, body } = await create({ name: 'CI', scopes: ['admin', 'read'], expiresAt });
    expect([status, body]).toMatchObject([201, { scopes: ['admin', 'read'], expiresAt }]);
    expect(await bed.service.directories.projects.findKey(hashKey(body.key))).toMatchObject({
      scopes: ['admin', 'read'],
      expiresAtMs: bed.now() + 60_000,
    });
  });

  it('stores the key nowhere, not even for a replay, which shows it again', async () => {
    const first = await create({ name: 'Once' }, { 'idempotency-key': 'secret' });
    const again = await create({ name: 'Once' }, { 'idempotency-key': 'secret' });
    expect(again.body).toEqual(first.body);
    const secret = String(first.body.key).slice(3);
    const stored = await bed.database.query<{ text: string }>(
      `SELECT row_to_json(keys)::text AS text FROM keys UNION ALL SELECT row_to_json(outbox)::text FROM outbox
       UNION ALL SELECT encode(sealed_answer, 'escape') FROM idempotency`,
    );
    expect(stored.length).toBeGreaterThan(1);
    expect(stored.filter(({ text }) => text.includes(secret))).toEqual([]);
  });

  it('lets a project have exactly as many keys as allowed, under parallel calls', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => create({ name: `Key ${n}` })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
    for (const answer of answers.filter((answer) => answer.status !== 201)) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'key_limit' } });
    }
    const { id: keyId } = answers.find((answer) => answer.status === 201)?.body ?? {};
    await bed.call('DELETE', `/platform/projects/${id}/keys/${keyId}`, {
      identity: await bed.owner(ownerA, id),
    });
    expect((await create({ name: 'In the free place' })).status).toBe(201);
  });

  it.each([
    {},
    { name: '' },
    { name: 'x'.repeat(101) },
    { name: 'two\nlines' },
    { name: 'Pay\u202Elap' },
    { name: 'a', key: 'bk_mine' },
    { name: 'a', scopes: [] },
    { name: 'a', scopes: ['owner'] },
    { name: 'a', scopes: ['read', 'read'] },
    { name: 'a', expiresAt: '2020-01-01T00:00:00Z' },
    { name: 'a', expiresAt: 'tomorrow' },
    { name: 'a', expiresAt: null },
  ])('refuses %j', async (body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });
});
