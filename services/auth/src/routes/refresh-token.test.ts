import { authRoutes } from '@backlot/contract';
import { refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestBed, dayMs, type TestBed } from '../test-bed.ts';

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

  it('answers a new token of the same session, which lives 30 days more', async () => {
    const { identity, sessionId, user } = await bed.signUp();
    bed.pass(29 * dayMs);
    const { status, body } = await bed.call('POST', '/auth/refresh', { identity });
    expect(status).toBe(200);
    expect(body.user).toEqual(user);
    expect(jwt.decode(body.token)).toEqual({
      iss: 'backlot',
      aud: testProject.id,
      sub: user.id,
      sid: sessionId,
      iat: Math.floor(bed.now() / 1000),
      exp: Math.floor((bed.now() + 30 * dayMs) / 1000),
    });
    bed.pass(29 * dayMs);
    expect(await bed.service.sessions.isLive(testProject.number, sessionId)).toBe(true);
    bed.pass(dayMs);
    expect(await bed.service.sessions.isLive(testProject.number, sessionId)).toBe(false);
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
