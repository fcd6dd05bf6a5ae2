import { createLogger } from '@backlot/telemetry';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  echoService,
  operatorToken,
  ownerId,
  projectSnapshot,
  secretKey,
  type TestBed,
  userId,
} from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';
const groups = [{ id: '018f0000-0000-7000-8000-00000000cccc', role: 'admin' }];
const stranger = {
  caller: 'anonymous',
  userId: null,
  sessionId: null,
  keyId: null,
  isView: true,
};

describe('calls that the owner makes as somebody else', () => {
  let bed: TestBed;
  let lines: Record<string, unknown>[];
  beforeEach(async () => {
    lines = [];
    const log = createLogger({
      service: 'gateway',
      level: 'info',
      destination: { write: (line: string) => lines.push(JSON.parse(line)) },
    });
    bed = await createTestBed({
      deps: { log },
      service: (seen) => (req, res) => {
        res.setHeader('Cache-Control', 'public, max-age=60');
        echoService(seen)(req, res);
      },
    });
    const known = { role: 'staff', groups, emailVerified: true, isBlocked: false };
    bed.fake.people.set(`1001:${userId}`, known);
  });
  afterEach(() => bed.close());

  const owner = () => bed.token({ aud: 'platform', sub: ownerId });
  const view = (as: string, { token = owner(), method = 'GET', path = list } = {}) =>
    bed.call(method, path, {
      ...(token && { token }),
      headers: { 'Backlot-View-As': as },
      ...(method !== 'GET' && method !== 'HEAD' && { body: { data: {} } }),
    });

  it('reach the service as that caller, who has no session, and are kept by no cache', async () => {
    const anonymous = await view('stranger');
    expect(anonymous.body.identity).toMatchObject(stranger);
    expect(anonymous.headers.get('cache-control')).toBe('no-store');
    expect(anonymous.body.headers['backlot-view-as']).toBeUndefined();
    expect((await view(`user:${userId.toUpperCase()}`)).body.identity).toMatchObject({
      caller: 'user',
      userId,
      sessionId: null,
      role: 'staff',
      groups,
      emailVerified: true,
    });
    const staff = (await view('role:staff')).body.identity;
    expect(staff).toMatchObject({ caller: 'user', role: 'staff', emailVerified: true });
    expect([userId, ownerId, null]).not.toContain(staff.userId);
    expect((await bed.call('GET', list, { token: owner() })).body.identity.caller).toBe('owner');
  });

  it('see what a blocked user sees, and what one who has to verify the address first', async () => {
    const person = { role: 'user', groups: [], emailVerified: false };
    bed.fake.people.set(`1001:${userId}`, { ...person, isBlocked: true });
    expect((await view(`user:${userId}`)).body.identity).toMatchObject(stranger);
    bed.fake.people.set(`1001:${userId}`, person);
    const settings = { mustVerify: true };
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings }));
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    expect((await view(`user:${userId}`)).body.code).toBe('verify_first');
    expect((await view('stranger')).status).toBe(200);
  });

  it('count as the owner’s, and stand in the log', async () => {
    const before = await bed.call('GET', list, { token: owner() });
    const after = await view('stranger');
    const left = (answer: typeof before) =>
      Number(/"caller";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    expect(left(before) - left(after)).toBe(1);
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'call', viewAs: 'stranger', operation: 'listRecords' }),
    );
  });

  it('are refused by name to everybody else, and reach nothing', async () => {
    const session = bed.token();
    const other = bed.token({ aud: 'platform', sub: userId });
    for (const [token, status] of [
      ['', 401],
      [session, 403],
      [secretKey, 403],
      [operatorToken, 403],
    ] as const) {
      const answer = await view('stranger', { token });
      expect([answer.status, answer.body.error]).toEqual([
        status,
        expect.stringContaining('Backlot-View-As'),
      ]);
    }
    expect((await view('stranger', { token: other })).status).toBe(401);
    const foreign = '/api/runtime/other/db/notes';
    expect((await view('stranger', { path: foreign })).status).toBe(401);
    expect(bed.seen).toEqual([]);
  });

  it.each([
    ['POST', list],
    ['PATCH', `${list}/${userId}`],
    ['DELETE', `${list}/${userId}`],
    ['HEAD', '/api/runtime/demo/storage/files/a/b'],
    ['POST', '/api/runtime/demo/ai'],
    ['POST', '/api/runtime/demo/events/ticket'],
    ['GET', '/api/runtime/demo/events?collections=notes'],
    ['GET', '/api/runtime/demo/auth/me'],
    ['GET', '/api/runtime/demo/mailbox'],
    ['GET', '/api/runtime/demo/types.d.ts'],
    ['GET', '/api/platform/projects/demo/users'],
    ['GET', '/api/platform/projects'],
  ])('do nothing by %s %s', async (method, path) => {
    const answer = await view('stranger', { method, path });
    expect([answer.status, method === 'HEAD' || answer.body.code]).toEqual([
      400,
      method === 'HEAD' || 'invalid_header',
    ]);
    expect(bed.seen).toEqual([]);
  });

  it.each([
    '',
    'owner',
    'anonymous',
    'user',
    'user:me',
    `user:${userId}, stranger`,
    'role:',
    'role:Staff',
    `role:${'x'.repeat(33)}`,
    'key:1',
    'x'.repeat(5000),
  ])('name a caller: not %p', async (as) => {
    const answer = await view(as);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_header']);
    expect(answer.body.error).toContain('user:<id>');
  });

  it('are a 404 for users of other projects, and 503 where accounts can not be asked', async () => {
    bed.fake.people.set(`1002:${ownerId}`, { role: 'user', groups: [] });
    expect((await view(`user:${ownerId}`)).body.code).toBe('not_found');
    await view('stranger');
    bed.fake.gate = Promise.reject(new Error('auth is away'));
    bed.fake.gate.catch(() => {});
    expect((await view(`user:${userId}`)).body.code).toBe('unavailable');
  });
});
