import { authRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, otherProject, type TestBed } from '../test-bed.ts';

describe('getMe', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.getMe,
    () => bed.http,
    () => ({ path: '/auth/me' }),
  );

  it('answers the user of the token', async () => {
    const { identity, user } = await bed.signUp({ name: 'Zoë 🦓' });
    expect(await bed.call('GET', '/auth/me', { identity })).toMatchObject({
      status: 200,
      body: { user },
    });
  });

  it('refuses a session that has ended, that has expired, or that is of another project or user', async () => {
    const { identity } = await bed.signUp();
    const stranger = await bed.signUp();
    const refused = { status: 401, body: { code: 'invalid_token' } };
    const me = (changes: Partial<typeof identity>) =>
      bed.call('GET', '/auth/me', { identity: { ...identity, ...changes } });
    expect(await me({ project: otherProject })).toMatchObject(refused);
    expect(await me({ userId: stranger.user.id })).toMatchObject(refused);
    expect(await me({ sessionId: null })).toMatchObject(refused);
    bed.pass(30 * dayMs);
    expect(await me({})).toMatchObject(refused);
  });
});
