import { defaultLimits } from '@backlot/contract';
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

const runtime = '/api/runtime/demo';
const tooLarge = 'x'.repeat(600 * 1024);

describe('gateway', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  const expectFailure = async (
    answer: ReturnType<TestBed['call']>,
    status: number,
    code: string,
  ) => {
    const { body, headers, ...rest } = await answer;
    expect({ status: rest.status, code: body.code }).toEqual({ status, code });
    expect(body).toEqual({
      error: expect.any(String),
      code,
      requestId: headers.get('x-request-id'),
      ...(body.hint === undefined ? {} : { hint: expect.any(String) }),
    });
    return { body, headers };
  };

  describe('which answer wins', () => {
    const bad = { token: 'nonsense' };

    it('404 of the project before its route and the credential', async () => {
      await expectFailure(
        bed.call('GET', '/api/runtime/nothing/nowhere', bad),
        404,
        'project_not_found',
      );
    });
    it('410 of a deleted project', async () => {
      await expectFailure(
        bed.call('GET', '/api/runtime/deleted/nowhere', bad),
        410,
        'project_deleted',
      );
    });
    it('403 of a paused project', async () => {
      await expectFailure(
        bed.call('GET', '/api/runtime/paused/nowhere', bad),
        403,
        'project_paused',
      );
    });
    it.each([
      ['owner', 'The owner has paused this project and can resume it.'],
      ['operator', 'The operator has paused this project; only the operator can resume it.'],
    ] as const)(
      '403 of a project paused by the %s, saying who can resume it',
      async (pausedBy, error) => {
        const held = projectSnapshot({ id: 'held', number: 1009, status: 'paused', pausedBy });
        bed.fake.projects.set('held', held);
        bed.gateway.forget();
        const { status, body } = await bed.call('GET', '/api/runtime/held/nowhere');
        expect({ status, error: body.error }).toEqual({ status: 403, error });
      },
    );
    it('404 and 405 of the route before the credential', async () => {
      await expectFailure(bed.call('GET', `${runtime}/nowhere`, bad), 404, 'route_not_found');
      const { headers } = await expectFailure(
        bed.call('PUT', `${runtime}/db/notes`, bad),
        405,
        'method_not_allowed',
      );
      expect(headers.get('allow')).toBe('GET, HEAD, POST, DELETE, OPTIONS');
    });
    it('401 before 429, and 429 before 413', async () => {
      bed.fake.projects.set(
        'demo',
        projectSnapshot({
          id: 'demo',
          number: 1001,
          limits: { ...defaultLimits, write: { perCaller: 0, perProject: 0 } },
        }),
      );
      await expectFailure(
        bed.call('POST', `${runtime}/db/notes`, { ...bad, body: tooLarge }),
        401,
        'invalid_token',
      );
      await expectFailure(
        bed.call('PATCH', `${runtime}/auth/me`, { body: tooLarge }),
        401,
        'unauthenticated',
      );
      await expectFailure(
        bed.call('POST', `${runtime}/auth/signin`, { body: tooLarge }),
        429,
        'rate_limited',
      );
    });
    it('413 without a byte reaching the service', async () => {
      await expectFailure(
        bed.call('POST', `${runtime}/auth/signin`, { body: tooLarge }),
        413,
        'body_too_large',
      );
      expect(bed.seen).toEqual([]);
    });
    it('an unknown caller 401, a known but wrong one is left to the service', async () => {
      await expectFailure(bed.call('GET', `${runtime}/auth/me`), 401, 'unauthenticated');
      const { status, body } = await bed.call('GET', `${runtime}/auth/me`, { token: secretKey });
      expect({ status, caller: body.identity.caller }).toEqual({ status: 200, caller: 'key' });
    });
  });

  describe('callers', () => {
    const identity = async (path: string, token?: string) => {
      const { body, status } = await bed.call('GET', path, token === undefined ? {} : { token });
      return status === 200 ? body.identity : body.code;
    };

    it('nobody, a user, the owner, a key and the operator are told apart', async () => {
      const list = `${runtime}/db/notes`;
      expect(await identity(list)).toMatchObject({
        caller: 'anonymous',
        userId: null,
        ip: '127.0.0.1',
        project: { id: 'demo', number: 1001 },
      });
      expect(await identity(list, bed.token())).toMatchObject({
        caller: 'user',
        userId,
        sessionId: 's1',
      });
      expect(await identity(list, bed.token({ aud: 'platform', sub: ownerId }))).toMatchObject({
        caller: 'owner',
        userId: ownerId,
      });
      expect(await identity(list, secretKey)).toMatchObject({
        caller: 'key',
        keyId: 'key-1',
        userId: null,
      });
      expect(await identity(list, operatorToken)).toMatchObject({ caller: 'operator' });
    });

    it('a token is worth nothing in another project, cached or not', async () => {
      const token = bed.token();
      for (let round = 0; round < 2; round++) {
        expect(await identity('/api/runtime/other/db/notes', token)).toBe('invalid_token');
        expect(await identity(`${runtime}/db/notes`, token)).toMatchObject({ caller: 'user' });
        expect(await identity('/api/platform/projects', token)).toBe('invalid_token');
      }
      expect(await identity('/api/runtime/other/db/notes', secretKey)).toBe('invalid_token');
      expect(await identity('/api/platform/projects', secretKey)).toBe('invalid_token');
    });

    it('a token of the platform is an owner only where its user owns the project', async () => {
      const token = bed.token({ aud: 'platform', sub: ownerId });
      expect(await identity(`${runtime}/db/notes`, token)).toMatchObject({ caller: 'owner' });
      expect(await identity('/api/runtime/other/db/notes', token)).toBe('invalid_token');
      expect(await identity('/api/runtime/platform/auth/me', token)).toMatchObject({
        caller: 'user',
        userId: ownerId,
      });
    });
  });

  describe('the control plane', () => {
    const owner = () => bed.token({ aud: 'platform', sub: ownerId });

    it('hands the project that a call is about to the service, with the path below /platform', async () => {
      const { body } = await bed.call('GET', '/api/platform/projects/demo/users?limit=2', {
        token: owner(),
      });
      expect(body).toMatchObject({
        url: '/platform/projects/demo/users?limit=2',
        identity: { caller: 'owner', project: { id: 'demo', number: 1001 } },
      });
      expect(
        (await bed.call('GET', '/api/platform/projects', { token: owner() })).body.identity.project
          .id,
      ).toBe('platform');
    });
    it("another owner's project looks like none, the operator sees all", async () => {
      await expectFailure(
        bed.call('GET', '/api/platform/projects/other', { token: owner() }),
        404,
        'project_not_found',
      );
      await expectFailure(
        bed.call('GET', '/api/platform/projects/nothing', { token: owner() }),
        404,
        'project_not_found',
      );
      await expectFailure(
        bed.call('GET', '/api/platform/projects/platform', { token: owner() }),
        404,
        'project_not_found',
      );
      expect(
        (await bed.call('GET', '/api/platform/projects/other', { token: operatorToken })).body
          .identity.project.number,
      ).toBe(1002);
    });
    it('a paused project is open to its owner, a deleted one can only be restored', async () => {
      expect(
        (await bed.call('GET', '/api/platform/projects/paused', { token: owner() })).status,
      ).toBe(200);
      await expectFailure(
        bed.call('GET', '/api/platform/projects/deleted', { token: owner() }),
        410,
        'project_deleted',
      );
      expect(
        (await bed.call('POST', '/api/platform/projects/deleted/restore', { token: owner() }))
          .status,
      ).toBe(200);
    });
    it('asks for a credential first', async () => {
      await expectFailure(
        bed.call('GET', '/api/platform/projects/nothing'),
        401,
        'unauthenticated',
      );
      await expectFailure(bed.call('GET', '/api/platform/nowhere'), 404, 'route_not_found');
    });
  });

  it('hands a service the one cookie that its route takes, and no other', async () => {
    const headers = { cookie: 'a=1; backlot_mailbox=session; b=2' };
    const cookieAt = async (path: string) =>
      (await bed.call('GET', path, { headers })).body.headers.cookie;
    expect(await cookieAt('/mailbox/demo')).toBe('backlot_mailbox=session');
    expect(await cookieAt(`${runtime}/mailbox/x`)).toBe('backlot_mailbox=session');
    expect(await cookieAt(`${runtime}/db/notes`)).toBeUndefined();
  });

  it('serves accounts alone in the project "platform"', async () => {
    await expectFailure(bed.call('GET', '/api/runtime/platform/db/notes'), 404, 'route_not_found');
    expect((await bed.call('POST', '/api/runtime/platform/auth/signin', { body: {} })).status).toBe(
      200,
    );
  });
});
