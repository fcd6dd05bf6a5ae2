import { createPublicKey, type webcrypto } from 'node:crypto';
import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestBed, dayMs, type TestBed } from '../testing/test-bed.ts';

describe('refreshToken', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.refreshToken,
    () => bed.http,
    () => ({ path: '/auth/refresh' }),
  );

  it('answers a new token of the same session, which lasts 30 days more', async () => {
    const { identity, sessionId, user } = await bed.signUp();
    bed.clock.pass(29 * dayMs);
    const { status, body } = await bed.call('POST', '/auth/refresh', { identity });
    expect(status).toBe(200);
    expect(body.user).toEqual(user);
    expect(jwt.decode(body.token)).toEqual({
      iss: 'backlot',
      aud: testProject.id,
      sub: user.id,
      sid: sessionId,
      iat: Math.floor(bed.clock.now() / 1000),
      exp: Math.floor((bed.clock.now() + 30 * dayMs) / 1000),
    });
    bed.clock.pass(29 * dayMs);
    expect(await bed.findSession(sessionId)).toMatchObject({ role: 'user', groups: [] });
    bed.clock.pass(dayMs);
    expect(await bed.findSession(sessionId)).toBeNull();
  });

  it('never revives a session that has ended', async () => {
    const { identity } = await bed.signUp();
    await bed.call('POST', '/auth/signout', { identity });
    expect(await bed.call('POST', '/auth/refresh', { identity })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
  });
});

describe('signOut', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.signOut,
    () => bed.http,
    () => ({ path: '/auth/signout', body: {} }),
  );

  const isLive = async (id: string | null) => (await bed.findSession(id)) !== null;
  const twoSessions = async () => {
    const person = await bed.signUp();
    const second = bed.readIdentity((await bed.signIn(person)).body.token);
    await bed.takeEvents();
    return { person, second };
  };

  it.each([[undefined], [{}], [{ all: false }]])(
    'ends this session alone with the body %j',
    async (body) => {
      const { person, second } = await twoSessions();
      const answer = await bed.call('POST', '/auth/signout', { identity: person.identity, body });
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
      expect(await isLive(person.sessionId)).toBe(false);
      expect(await isLive(second.sessionId)).toBe(true);
      expect(await bed.takeEvents()).toEqual([
        {
          topic: 'session.revoked',
          payload: { projectNumber: testProject.number, sessionIds: [person.sessionId] },
        },
      ]);
    },
  );

  it('ends every session of the user with "all", and nobody else\'s', async () => {
    const { person, second } = await twoSessions();
    const other = await bed.signUp();
    await bed.takeEvents();
    await bed.call('POST', '/auth/signout', { identity: person.identity, body: { all: true } });
    expect(await isLive(person.sessionId)).toBe(false);
    expect(await isLive(second.sessionId)).toBe(false);
    expect(await isLive(other.sessionId)).toBe(true);
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: {
          projectNumber: testProject.number,
          sessionIds: expect.arrayContaining([person.sessionId, second.sessionId]),
        },
      },
    ]);
  });

  it('refuses a session that has ended already, and publishes nothing', async () => {
    const { person } = await twoSessions();
    await bed.call('POST', '/auth/signout', { identity: person.identity });
    await bed.takeEvents();
    expect((await bed.call('POST', '/auth/signout', { identity: person.identity })).status).toBe(
      401,
    );
    expect(await bed.takeEvents()).toEqual([]);
  });

  it.each([
    [{ all: 'yes' }, 'all'],
    [[], ''],
  ])('refuses %j', async (body, field) => {
    const { identity } = await bed.signUp();
    const answer = await bed.call('POST', '/auth/signout', { identity, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(field);
  });
});

describe('getJwks', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.getJwks,
    () => bed.http,
    () => ({ path: '/auth/.well-known/jwks.json' }),
  );

  it('publishes public keys only, one of which verifies a token', async () => {
    const { token } = await bed.signUp();
    const { status, body } = await bed.call('GET', '/auth/.well-known/jwks.json', {
      identity: anonymous(),
    });
    expect(status).toBe(200);
    expect(body.keys).toHaveLength(2);
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    }
    const kid = jwt.decode(token, { complete: true })?.header.kid;
    const jwk = body.keys.find((key: webcrypto.JsonWebKey & { kid: string }) => key.kid === kid);
    const claims = jwt.verify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      algorithms: ['ES256'],
      issuer: 'backlot',
      audience: testProject.id,
    });
    expect(claims).toHaveProperty('sid');
  });
});
