import { defaultLimits, type KeySnapshot } from '@backlot/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  ownerId,
  projectSnapshot,
  secretKey,
  sha256,
  type TestBed,
} from './testing/test-bed.ts';

const runtime = '/api/runtime/demo';
const platform = '/api/platform/projects/demo';

describe('secret keys', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const addKey = (name: string, changes: Partial<KeySnapshot> = {}) => {
    const key = `bk_${name.padEnd(43, 'x')}`;
    bed.fake.keys.set(sha256(key), { id: name, projectNumber: 1001, ...changes });
    return key;
  };
  const answer = async (method: string, path: string, token: string) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const { status, body: said } = await bed.call(method, path, { token, body });
    return [status, status === 200 ? said.identity.caller : said.code];
  };

  it('read with every scope, write with "write" alone; those of older versions do both', async () => {
    const scoped = {
      read: addKey('read', { scopes: ['read'] }),
      write: addKey('write', { scopes: ['write'] }),
      admin: addKey('admin', { scopes: ['admin'] }),
      older: secretKey,
    };
    for (const [name, key] of Object.entries(scoped)) {
      const mayWrite = name === 'write' || name === 'older';
      expect(await answer('GET', `${runtime}/db/notes`, key)).toEqual([200, 'key']);
      for (const [method, path] of [
        ['POST', '/db/notes'],
        ['PATCH', '/db/notes/1'],
        ['DELETE', '/db/notes/1'],
        ['POST', '/db/notes/_batch'],
        ['POST', '/storage/files/1/sign'],
      ] as const) {
        const expected = mayWrite ? [200, 'key'] : [403, 'forbidden'];
        expect([name, path, ...(await answer(method, runtime + path, key))]).toEqual([
          name,
          path,
          ...expected,
        ]);
      }
    }
  });

  it('are told which scope is missing', async () => {
    const key = addKey('read', { scopes: ['read'] });
    const { body } = await bed.call('POST', `${runtime}/db/notes`, { token: key, body: {} });
    expect(body).toMatchObject({
      error: 'This call takes a key with the scope "write"; this one has read.',
      hint: expect.stringContaining('"scopes": ["write"]'),
    });
  });

  it('without "write" spend no credits, and their calls count', async () => {
    const key = addKey('read', { scopes: ['read', 'admin'] });
    for (const path of ['/ai', '/email/send', '/storage/upload']) {
      const { status, headers } = await bed.call('POST', runtime + path, { token: key, body: {} });
      expect([path, status]).toEqual([path, 403]);
      expect(headers.get('ratelimit')).toContain('"project"');
    }
    expect(bed.seen).toEqual([]);
    expect(await bed.counters.reserved(ownerId)).toBe(0);
  });

  it('end at their time, and say so', async () => {
    const key = addKey('short', { expiresAtMs: bed.clock.now + 10_000 });
    expect(await answer('GET', `${runtime}/db/notes`, key)).toEqual([200, 'key']);
    bed.clock.now += 10_000;
    const { status, body } = await bed.call('GET', `${runtime}/db/notes`, { token: key });
    expect([status, body.code]).toEqual([401, 'invalid_token']);
    expect(body.error).toBe(`This key expired at ${new Date(bed.clock.now).toISOString()}.`);
    const elsewhere = await bed.call('GET', '/api/runtime/other/db/notes', { token: key });
    expect(elsewhere.body.error).not.toContain('This key');
  });

  it('open the control plane of their own project with "admin" alone', async () => {
    const admin = addKey('admin', { scopes: ['admin'] });
    const writes = addKey('write', { scopes: ['read', 'write'] });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['GET', '/users'],
      ['GET', '/collections'],
      ['PUT', '/collections/notes'],
    ] as const) {
      expect(await answer(method, platform + path, admin)).toEqual([200, 'key']);
      expect(await answer(method, platform + path, writes)).toEqual([403, 'forbidden']);
      const ofOther = platform.replace('demo', 'other') + path;
      expect(await answer(method, ofOther, admin)).toEqual([401, 'invalid_token']);
      const ofNone = platform.replace('demo', 'nosuchproject') + path;
      expect(await answer(method, ofNone, admin)).toEqual([401, 'invalid_token']);
    }
    const [call] = bed.seen.filter(({ url }) => url.startsWith('/platform'));
    expect(call?.identity).toMatchObject({
      caller: 'key',
      keyId: 'admin',
      userId: null,
      project: { id: 'demo', number: 1001 },
    });
  });

  it('open nothing of deletion, keys, money, secrets and origins, whatever their scopes', async () => {
    const key = addKey('all', { scopes: ['read', 'write', 'admin'] });
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/restore'],
      ['POST', '/keys'],
      ['GET', '/keys'],
      ['DELETE', '/keys/1'],
      ['GET', '/payments'],
      ['POST', '/payments/1/refund'],
      ['GET', '/usage'],
      ['PUT', '/secrets/openai'],
      ['GET', '/secrets/stripe'],
      ['POST', '/origins'],
    ] as const) {
      expect([path, ...(await answer(method, platform + path, key))]).toEqual([
        path,
        401,
        'invalid_token',
      ]);
    }
    for (const path of ['/api/platform/projects', '/api/platform/credits'])
      expect(await answer('GET', path, key)).toEqual([401, 'invalid_token']);
    expect(bed.seen).toEqual([]);
  });

  it('of one project are together one caller of the control plane, whose limit all share', async () => {
    const limits = { ...defaultLimits, read: { perCaller: 3, perProject: 1000 } };
    const shared = projectSnapshot({ id: 'platform', number: 1, ownerId: null, limits });
    bed.fake.projects.set('platform', shared);
    const keys = ['one', 'two'].map((name) => addKey(name, { scopes: ['admin'] }));
    const statuses = [];
    for (const key of [...keys, ...keys]) {
      statuses.push((await bed.call('GET', platform, { token: key })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    for (const key of [...keys, ...keys])
      expect(await answer('GET', `${runtime}/db/notes`, key)).toEqual([200, 'key']);
  });
});
