import { authRoutes, type RouteDefinition, routes } from '@backlot/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  operatorToken,
  ownerId,
  projectSnapshot,
  secretKey,
  type TestBed,
  userId,
} from './testing/test-bed.ts';

const base = '/api/runtime/demo';
const list = `${base}/db/notes`;

/** Its path in the project, with something in place of each parameter. */
const pathTo = ({ path }: RouteDefinition) => base + path.replace(/:\w+/g, 'x');

const forUsers = routes.filter(
  ({ plane, callers, answeredBy, ignoresCredentials, operationId }) =>
    plane === 'runtime' &&
    callers.includes('user') &&
    !answeredBy &&
    !ignoresCredentials &&
    operationId !== authRoutes.getJwks.operationId,
);

/** What signs in and out, and shows the account. */
const signInCalls = [
  'confirmEmailChange',
  'createGuest',
  'createPasskeySignIn',
  'exchangeOauthCode',
  'forgotPassword',
  'getMe',
  'handOverSession',
  'listFactors',
  'listPasskeys',
  'refreshToken',
  'requestCode',
  'resetPassword',
  'showSignInLink',
  'signIn',
  'signInWithPasskey',
  'signOut',
  'takeSession',
  'verifyCode',
  'verifyEmail',
  'verifyFactor',
];
const accountCalls = [
  'changePassword',
  'deleteMe',
  'endMySession',
  'endOtherSessions',
  'listIdentities',
  'listMyEvents',
  'listMySessions',
];
const setUpCalls = [
  'addPasskey',
  'confirmTotp',
  'createPasskeyOptions',
  'createTotp',
  'reauthenticate',
];

describe('a blocked user', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const block = (until: number | null = null, reason: string | null = 'Spam in the guest book') => {
    bed.fake.session = {
      role: 'user',
      groups: [],
      emailVerified: true,
      blocked: { reason, until },
    };
    return bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
  };

  it('changes nothing by any route but to leave, and learns why', async () => {
    await block();
    const token = bed.token();
    const open = forUsers.filter((route) => route.opensTo?.includes('blocked'));
    expect(open.map(({ operationId }) => operationId).sort()).toEqual(
      [...signInCalls, ...accountCalls, 'reauthenticate'].sort(),
    );
    for (const route of forUsers.filter(({ method }) => method !== 'GET')) {
      const { status, body } = await bed.call(route.method, pathTo(route), { token });
      if (open.includes(route))
        expect([route.operationId, status]).toEqual([route.operationId, 200]);
      else
        expect([route.operationId, status, body.code, body.error]).toEqual([
          route.operationId,
          403,
          'blocked',
          'This account is blocked: Spam in the guest book',
        ]);
    }
    const reached = bed.seen.filter(({ method }) => method !== 'GET');
    expect(reached.every(({ identity }) => identity.userId === userId)).toBe(true);
    expect(reached).toHaveLength(open.filter(({ method }) => method !== 'GET').length);
  });

  it('reads what anyone reads, as anyone', async () => {
    await block();
    const token = bed.token();
    for (const route of forUsers.filter(({ method }) => method === 'GET')) {
      bed.seen.length = 0;
      const { status, body } = await bed.call('GET', pathTo(route), { token });
      if (!route.opensTo && !route.callers.includes('anonymous')) {
        expect([route.operationId, status, body.code]).toEqual([route.operationId, 403, 'blocked']);
        continue;
      }
      const [call] = bed.seen;
      expect([route.operationId, call?.identity.isBlocked]).toEqual([
        route.operationId,
        route.opensTo ? undefined : true,
      ]);
      expect([route.operationId, status, call?.identity.caller, call?.identity.userId]).toEqual(
        route.opensTo
          ? [route.operationId, 200, 'user', userId]
          : [route.operationId, 200, 'anonymous', null],
      );
    }
  });

  it('is let in again when the block is over, without a word', async () => {
    await block(bed.clock.now + 60_000);
    const token = bed.token();
    const write = async () => (await bed.call('POST', list, { token, body: { data: {} } })).status;
    const end = new Date(bed.clock.now + 60_000).toISOString();
    const refused = await bed.call('POST', list, { token, body: { data: {} } });
    expect(refused.body.error).toBe(`This account is blocked until ${end}: Spam in the guest book`);
    bed.clock.now += 59_999;
    expect(await write()).toBe(403);
    bed.clock.now += 1;
    expect(await write()).toBe(200);
    expect(bed.seen.at(-1)?.identity.userId).toBe(userId);
  });

  it('gets no further write through once it is heard of, however many are under way', async () => {
    const token = bed.token();
    let isHeard = false;
    const late: number[] = [];
    const write = async () => {
      const sentAfter = isHeard;
      const { status } = await bed.call('POST', list, { token, body: { data: {} } });
      if (sentAfter) late.push(status);
      return status;
    };
    const before = Promise.all(Array.from({ length: 25 }, write));
    const during = block().then(() => {
      isHeard = true;
      return Promise.all(Array.from({ length: 50 }, write));
    });
    expect((await before).every((status) => status === 200 || status === 403)).toBe(true);
    expect(new Set(await during)).toEqual(new Set([403]));
    expect(late).toHaveLength(50);
  });

  it('takes nothing from others of the project, its owner and its keys among them', async () => {
    await block();
    bed.fake.session = { role: 'user', groups: [] };
    const others = [bed.token({ sub: 'other', sid: 's2' }), secretKey];
    for (const token of others)
      expect((await bed.call('POST', list, { token, body: { data: {} } })).status).toBe(200);
  });

  it('may be an owner, by the operator: on the control plane and in the projects', async () => {
    bed.fake.session = { role: 'user', groups: [], blocked: { reason: null, until: null } };
    const token = bed.token({ aud: 'platform', sub: ownerId, sid: 's9' });
    for (const [method, path] of [
      ['POST', '/api/platform/projects'],
      ['GET', '/api/platform/projects/demo/users'],
      ['POST', list],
    ] as const)
      expect(await bed.call(method, path, { token })).toMatchObject({
        status: 403,
        body: { code: 'blocked', error: 'This account is blocked.' },
      });
  });
});

describe('where addresses have to be verified', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
    const settings = { mustVerify: true };
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings }));
    bed.fake.session = { role: 'user', groups: [], emailVerified: false };
  });
  afterEach(() => bed.close());

  it('a user who has not done so opens nothing but the account', async () => {
    const token = bed.token();
    for (const route of forUsers) {
      const { status, body } = await bed.call(route.method, pathTo(route), { token });
      expect([route.operationId, status, body.code]).toEqual(
        route.opensTo?.includes('unverified')
          ? [route.operationId, 200, undefined]
          : [route.operationId, 403, 'verify_first'],
      );
    }
  });

  it('it opens with the click, and asks visitors, owners and keys for nothing', async () => {
    const token = bed.token();
    const call = (as?: string) => bed.call('GET', list, as === undefined ? {} : { token: as });
    expect((await call(token)).status).toBe(403);
    expect((await call()).status).toBe(200);
    expect((await call(secretKey)).status).toBe(200);
    const asOwner = bed.token({ aud: 'platform', sub: ownerId, sid: 's9' });
    expect((await call(asOwner)).status).toBe(200);
    bed.fake.session = { role: 'user', groups: [], emailVerified: true };
    const verified = { projectNumber: 1001, userId, email: 'ada@example.org' };
    await bed.publish('user.verified', verified);
    expect((await call(token)).status).toBe(200);
  });
});

describe('where a role takes two factors', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
    const settings = { mustUse2fa: ['staff', 'admin'] };
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings }));
    bed.fake.session = { role: 'staff', groups: [], emailVerified: true };
  });
  afterEach(() => bed.close());

  it('a session of one opens nothing but what sets up the second, and signing in and out', async () => {
    const token = bed.token();
    for (const route of forUsers) {
      const { status, body } = await bed.call(route.method, pathTo(route), { token });
      expect([route.operationId, status, body.code]).toEqual(
        route.opensTo?.includes('first-factor')
          ? [route.operationId, 200, undefined]
          : [route.operationId, 403, 'factor_first'],
      );
    }
    const open = forUsers.filter(({ opensTo }) => opensTo?.includes('first-factor'));
    expect(open.map(({ operationId }) => operationId).sort()).toEqual(
      [...signInCalls, ...setUpCalls].sort(),
    );
  });

  it('a session of two opens all at once, and other roles, owners and keys are asked for nothing', async () => {
    const token = bed.token();
    const call = async (as: string) => (await bed.call('GET', list, { token: as })).status;
    expect(await call(token)).toBe(403);
    bed.fake.session = { role: 'staff', groups: [], hasSecondFactor: true };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    expect(await call(token)).toBe(200);
    bed.fake.session = { role: 'user', groups: [] };
    const others = [bed.token({ sub: 'other', sid: 's2' }), secretKey];
    const asOwner = bed.token({ aud: 'platform', sub: ownerId, sid: 's9' });
    for (const other of [...others, asOwner]) expect(await call(other)).toBe(200);
  });

  it('of an older auth service, which says nothing of factors, sessions count as of one', async () => {
    expect((await bed.call('GET', list, { token: bed.token() })).body.code).toBe('factor_first');
  });
});

describe('where owners use two factors', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
    const settings = { mustUse2fa: ['user'] };
    const platform = { id: 'platform', number: 1, ownerId: null, settings };
    bed.fake.projects.set('platform', projectSnapshot(platform));
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001 }));
    bed.fake.session = { role: 'user', groups: [], emailVerified: true };
  });
  afterEach(() => bed.close());
  const asOwner = () => bed.token({ aud: 'platform', sub: ownerId, sid: 's9' });
  const ofOwners = (plane: RouteDefinition['plane']) =>
    routes.filter(
      (route) =>
        route.plane === plane &&
        route.callers.includes('owner') &&
        !route.ignoresCredentials &&
        !route.answeredBy,
    );

  it('a session of one opens no call of the control plane', async () => {
    const token = asOwner();
    for (const { method, path, operationId } of ofOwners('platform')) {
      const at = `/api/platform${path.replace(':projectId', 'demo').replace(/:\w+/g, 'x')}`;
      const { status, body } = await bed.call(method, at, { token });
      expect([operationId, status, body.code]).toEqual([operationId, 403, 'factor_first']);
      expect(body.error).toContain('Owners of projects');
    }
    expect(bed.seen).toEqual([]);
  });

  it('nor of a project, its documents included, but what anybody signs in with', async () => {
    const token = asOwner();
    for (const route of ofOwners('runtime')) {
      const { status } = await bed.call(route.method, pathTo(route), { token });
      const isOpen = route.opensTo?.includes('first-factor');
      expect([route.operationId, status]).toEqual([route.operationId, isOpen ? 200 : 403]);
    }
    for (const name of ['openapi.json', 'types.d.ts', 'llms.txt'])
      expect((await bed.call('GET', `${base}/${name}`, { token })).body.code).toBe('factor_first');
  });

  it('sets up the second with its own account, and opens all with it', async () => {
    const token = asOwner();
    const own = '/api/runtime/platform/auth/factors/totp';
    expect((await bed.call('POST', own, { token })).status).toBe(200);
    expect((await bed.call('GET', '/api/platform/projects', { token })).status).toBe(403);
    bed.fake.session = { role: 'user', groups: [], hasSecondFactor: true };
    await bed.publish('user.changed', { projectNumber: 1, userIds: [ownerId] });
    for (const path of ['/api/platform/projects', list])
      expect((await bed.call('GET', path, { token })).status).toBe(200);
    expect(bed.seen.at(-1)?.identity).not.toHaveProperty('role');
  });

  it('asks users, keys, the operator and owners of another role for nothing', async () => {
    const call = (path: string, token: string) => bed.call('GET', path, { token });
    expect((await call(list, bed.token())).status).toBe(200);
    expect((await call(list, secretKey)).status).toBe(200);
    expect((await call('/api/platform/projects', operatorToken)).status).toBe(200);
    bed.fake.session = { role: 'partner', groups: [] };
    expect((await call('/api/platform/projects', asOwner())).status).toBe(200);
  });
});

describe('a guest', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
    bed.fake.session = { role: 'user', groups: [], emailVerified: false, isGuest: true };
  });
  afterEach(() => bed.close());

  it('is a user whom services know as a guest, until they have an account', async () => {
    const token = bed.token();
    await bed.call('GET', list, { token });
    expect(bed.seen.at(-1)?.identity).toMatchObject({ caller: 'user', userId, isGuest: true });
    bed.fake.session = { role: 'user', groups: [], emailVerified: true };
    await bed.publish('user.changed', { projectNumber: 1001, userIds: [userId] });
    await bed.call('GET', list, { token });
    expect(bed.seen.at(-1)?.identity).not.toHaveProperty('isGuest');
  });

  it('is no guest elsewhere, and does nothing where addresses have to be verified', async () => {
    const token = bed.token();
    bed.fake.projects.set('other', projectSnapshot({ id: 'other', number: 1002 }));
    const elsewhere = await bed.call('GET', '/api/runtime/other/db/notes', { token });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([401, 'invalid_token']);
    const settings = { mustVerify: true };
    bed.fake.projects.set('strict', projectSnapshot({ id: 'strict', number: 1003, settings }));
    const asGuest = bed.token({ aud: 'strict' });
    const strict = '/api/runtime/strict';
    const read = await bed.call('GET', `${strict}/db/notes`, { token: asGuest });
    expect([read.status, read.body.code]).toEqual([403, 'verify_first']);
    expect((await bed.call('POST', `${strict}/auth/signup`, { token: asGuest })).status).toBe(200);
    expect((await bed.call('POST', `${strict}/auth/signout`, { token: asGuest })).status).toBe(200);
  });

  it('says so by no header of their own, and neither does a user', async () => {
    bed.fake.session = { role: 'user', groups: [], emailVerified: true };
    const forged = Buffer.from(JSON.stringify({ isGuest: true })).toString('base64url');
    const headers = { 'x-backlot-identity': `${forged}.x` };
    await bed.call('GET', list, { token: bed.token(), headers });
    expect(bed.seen.at(-1)?.identity).not.toHaveProperty('isGuest');
  });
});

it('services learn what the roles of a project may, and its few domains', async () => {
  const bed = await createTestBed();
  const known = {
    signUp: { domains: ['example.org'] },
    storage: { types: ['image/*'] },
    mustUse2fa: ['staff'],
  };
  const settings = { ...known, emailAllowList: ['a@example.org'] };
  const powers = { staff: ['block-users' as const] };
  bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings, powers }));
  await bed.call('GET', list);
  expect(bed.seen[0]?.identity.project).toMatchObject({
    powers,
    settings: known,
  });
  expect(bed.seen[0]?.identity.project.settings).not.toHaveProperty('emailAllowList');
  await bed.close();
});
