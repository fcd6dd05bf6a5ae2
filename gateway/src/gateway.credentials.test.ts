import { generateKeyPairSync } from 'node:crypto';
import { until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  ownerId,
  projectSnapshot,
  secretKey,
  sha256,
  type TestBed,
  userId,
} from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';

describe('credentials and what is remembered of them', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const statusWith = async (token: string) => (await bed.call('GET', list, { token })).status;

  it('a bad token is a 401 on every route that looks at credentials, and only there', async () => {
    const elsewhere = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const seconds = Math.floor(bed.clock.now / 1000);
    const good = bed.token();
    const bad = {
      'made up': 'a.b.c',
      'signed by another key': bed.token({}, { key: elsewhere }),
      'of an unknown key': bed.token({}, { kid: 'k9' }),
      'of another algorithm': bed.token({}, { key: 'secret', algorithm: 'HS256' }),
      'of another issuer': bed.token({ iss: 'other' }),
      expired: bed.token({ exp: seconds - 1 }),
      'not yet valid': bed.token({ nbf: seconds + 60 }),
      'for several projects': bed.token({ aud: ['demo', 'other'] }),
      'without a session': bed.token({ sid: undefined }),
      'with a changed payload': good.replace(
        /\.[^.]+\./,
        `.${Buffer.from('{"aud":"demo","sub":"x","sid":"s1","exp":9999999999,"iss":"backlot"}').toString('base64url')}.`,
      ),
      'a key that does not exist': `bk_${'x'.repeat(43)}`,
      'the operator’s, nearly': 'operator-token-for-test',
    };
    for (const [what, token] of Object.entries(bad)) {
      expect([what, await statusWith(token)]).toEqual([what, 401]);
      expect([
        what,
        (await bed.call('GET', '/api/runtime/demo/auth/.well-known/jwks.json', { token })).status,
      ]).toEqual([what, 200]);
    }
    expect(await statusWith(good)).toBe(200);
  });

  it('a bad token is left to a service that opens some things to all', async () => {
    const file = '/api/runtime/demo/storage/files/1/a';
    for (const [token, caller] of [
      ['a.b.c', 'anonymous'],
      [`bk_${'x'.repeat(43)}`, 'anonymous'],
      [bed.token(), 'user'],
      [secretKey, 'key'],
    ] as const) {
      const { status, body } = await bed.call('GET', file, { token });
      expect([status, body.identity.caller]).toEqual([200, caller]);
      expect(body.identity.hasBadCredential).toBe(caller === 'anonymous' ? true : undefined);
    }
    const { body } = await bed.call('GET', file);
    expect(body.identity.hasBadCredential).toBeUndefined();
  });

  it('a token is verified and its session asked for once', async () => {
    const token = bed.token();
    await Promise.all(Array.from({ length: 5 }, () => statusWith(token)));
    expect(bed.fake.asked.filter((question) => question.startsWith('findSession'))).toEqual([
      'findSession 1001:s1',
    ]);
    bed.clock.now += 60_000;
    await statusWith(token);
    expect(bed.fake.asked.filter((question) => question.startsWith('findSession'))).toHaveLength(2);
  });

  it('a remembered token ends when it expires', async () => {
    const token = bed.token({ exp: Math.floor(bed.clock.now / 1000) + 10 });
    expect(await statusWith(token)).toBe(200);
    bed.clock.now += 11_000;
    expect(await statusWith(token)).toBe(401);
  });

  it('a revoked session ends with the event', async () => {
    const token = bed.token();
    const other = bed.token({ sid: 's2' });
    expect([await statusWith(token), await statusWith(other)]).toEqual([200, 200]);
    bed.fake.ended.add('1001:s1');
    await bed.publish('session.revoked', { projectNumber: 1001, sessionIds: ['s1'] });
    expect([await statusWith(token), await statusWith(other)]).toEqual([401, 200]);
  });

  it('a revocation that arrives while the token is being verified is not lost', async () => {
    const token = bed.token();
    let open = () => {};
    bed.fake.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const first = statusWith(token);
    await bed.publish('session.revoked', { projectNumber: 1001, sessionIds: ['s1'] });
    open();
    bed.fake.gate = undefined;
    expect(await first).toBe(401);
    expect(await statusWith(token)).toBe(401);
  });

  it('a role and groups travel with the identity, and change with the event', async () => {
    const seen = async (token: string) => {
      const { body } = await bed.call('GET', list, { token });
      return [body.identity.role, body.identity.groups];
    };
    const token = bed.token();
    expect(await seen(token)).toEqual(['user', undefined]);
    bed.fake.session = { role: 'staff', groups: [{ id: 'g1', role: 'admin' }] };
    expect(await seen(token)).toEqual(['user', undefined]);
    await bed.publish('user.changed', { projectNumber: 1002, userIds: [userId] });
    expect(await seen(token)).toEqual(['user', undefined]);
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    expect(await seen(token)).toEqual(['staff', [{ id: 'g1', role: 'admin' }]]);
    bed.fake.session = { role: 'staff', groups: [] };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    expect(await seen(token)).toEqual(['staff', undefined]);
    expect(bed.fake.asked.filter((question) => question.startsWith('findSession'))).toHaveLength(3);
  });

  it('what callers change of their own groups counts for their next call, before any event', async () => {
    const groups = async (token: string) =>
      (await bed.call('GET', list, { token })).body.identity.groups;
    const token = bed.token();
    expect(await groups(token)).toBeUndefined();
    const joined = [{ id: 'g1', role: 'member' }];
    bed.fake.session = { role: 'user', groups: joined, emailVerified: true };
    await bed.call('GET', '/api/runtime/demo/groups', { token });
    await bed.call('POST', '/api/runtime/demo/groups/nowhere', { token, body: {} });
    expect(await groups(token)).toBeUndefined();
    const join = { token, body: { token: 'of the mail' } };
    await bed.call('POST', '/api/runtime/demo/groups/join', join);
    expect(await groups(token)).toEqual(joined);
    const { identity } = (await bed.call('GET', list, { token })).body;
    expect(identity.emailVerified).toBe(true);
    bed.fake.session = { role: 'user', groups: [] };
    await bed.call('DELETE', `/api/runtime/demo/groups/g1/members/${userId}`, { token });
    expect(await groups(token)).toBeUndefined();
  });

  it('a change that arrives while a session is being asked for is not lost', async () => {
    await statusWith(bed.token({ sid: 's2' }));
    const token = bed.token();
    let open = () => {};
    bed.fake.session = { role: 'admin', groups: [] };
    bed.fake.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const first = bed.call('GET', list, { token });
    await until(() => bed.fake.asked.includes('findSession 1001:s1'));
    bed.fake.session = { role: 'user', groups: [] };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    open();
    bed.fake.gate = undefined;
    await first;
    const { body } = await bed.call('GET', list, { token });
    expect(body.identity.role).toBe('user');
  });

  it('an owner, a key and a visitor have no role and no groups', async () => {
    bed.fake.session = { role: 'staff', groups: [{ id: 'g1', role: 'admin' }] };
    const owner = bed.token({ aud: 'platform', sub: ownerId });
    for (const token of [owner, secretKey, operatorToken, undefined]) {
      const { body } = await bed.call('GET', list, { ...(token && { token }) });
      expect(body.identity).not.toHaveProperty('role');
      expect(body.identity).not.toHaveProperty('groups');
    }
  });

  it('a session of the same id in another project stays', async () => {
    const token = bed.token();
    await statusWith(token);
    await bed.publish('session.revoked', { projectNumber: 1002, sessionIds: ['s1'] });
    expect(await statusWith(token)).toBe(200);
  });

  it('a revoked key ends with the event, also one that is being looked up', async () => {
    expect(await statusWith(secretKey)).toBe(200);
    bed.fake.keys.delete(sha256(secretKey));
    expect(await statusWith(secretKey)).toBe(200);
    await bed.publish('key.revoked', { projectId: 'demo', keyHash: sha256(secretKey) });
    expect(await statusWith(secretKey)).toBe(401);
  });

  it('a project changes with the event, and one just made is there', async () => {
    expect((await bed.call('GET', '/api/runtime/newcomer/db/notes')).status).toBe(404);
    bed.fake.projects.set('newcomer', projectSnapshot({ id: 'newcomer', number: 1005 }));
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, status: 'paused' }));
    await bed.call('GET', '/api/runtime/newcomer/db/notes');
    await bed.publish('project.changed', { projectId: 'newcomer', projectNumber: 1005 });
    expect((await bed.call('GET', '/api/runtime/newcomer/db/notes')).status).toBe(200);
    bed.fake.projects.delete('newcomer');
    await bed.publish('project.erased', { projectId: 'newcomer', projectNumber: 1005 });
    expect((await bed.call('GET', '/api/runtime/newcomer/db/notes')).status).toBe(404);
  });

  it('a directory that is down is a 503 that says when to come back', async () => {
    bed.fake.gate = Promise.reject(new Error('down'));
    bed.fake.gate.catch(() => {});
    const { status, headers, body } = await bed.call('GET', list);
    expect([status, headers.get('retry-after'), body.code]).toEqual([503, '2', 'unavailable']);
    bed.fake.gate = undefined;
    await bed.call('GET', list);
    bed.fake.gate = Promise.reject(new Error('down'));
    bed.fake.gate.catch(() => {});
    for (const token of [bed.token(), secretKey]) {
      const answer = await bed.call('GET', list, { token });
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    }
    expect((await bed.call('GET', list)).status).toBe(200);
  });

  it('a name that can be no project is not looked up', async () => {
    for (const name of ['a.b', 'ä', 'x'.repeat(65), '%20', '~']) {
      const { body } = await bed.call('GET', `/api/runtime/${name}/db/notes`);
      expect([name, body.code]).toEqual([name, 'project_not_found']);
    }
    expect(bed.fake.asked).toEqual([]);
  });

  it('the identity of a project leaves long lists behind', async () => {
    const settings = {
      createCollections: false,
      emailAllowList: Array.from({ length: 1000 }, (_, n) => `someone${n}@example.org`),
    };
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings }));
    const { body } = await bed.call('GET', list, { token: bed.token({ sub: userId }) });
    expect(body.identity.project).toEqual({
      id: 'demo',
      number: 1001,
      name: 'demo',
      ownerId,
      settings: { createCollections: false },
    });
  });

  it.each([
    ['older than mail templates, leaves visitors their own words', true, undefined, 'anything'],
    ['older than mail templates, has what its owner says', true, 'templates', 'templates'],
    ['made since, says nothing of itself', undefined, undefined, undefined],
  ] as const)('the identity of a project that is %s', async (_what, hasFreeMail, said, seen) => {
    const settings = said === undefined ? {} : { mailContent: said };
    const project = { id: 'demo', number: 1001, settings, ...(hasFreeMail && { hasFreeMail }) };
    bed.fake.projects.set('demo', projectSnapshot(project));
    const { body } = await bed.call('GET', list, { token: bed.token({ sub: userId }) });
    expect(body.identity.project.settings.mailContent).toBe(seen);
  });
});
