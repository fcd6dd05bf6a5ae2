import { authRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../test-bed.ts';

describe('updateMe', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.updateMe,
    () => bed.http,
    () => ({ path: '/auth/me', body: { name: 'A' } }),
  );

  it('changes, keeps or clears the name, and nothing else', async () => {
    const { identity, user } = await bed.signUp({ name: 'Before' });
    const patch = (body: unknown) => bed.call('PATCH', '/auth/me', { identity, body });
    bed.pass(1000);
    const updatedAt = new Date(bed.now()).toISOString();
    expect((await patch({ name: 'After' })).body.user).toEqual({
      ...user,
      name: 'After',
      updatedAt,
    });
    expect(
      (await patch({ role: 'admin', email: 'x@example.org', emailVerified: true })).body.user,
    ).toEqual({
      ...user,
      name: 'After',
      updatedAt,
    });
    expect((await patch({ name: null })).body.user.name).toBeNull();
  });

  it.each([[{ name: '' }], [{ name: 'x'.repeat(101) }], [{ name: 'a\0b' }], [{ name: 7 }]])(
    'refuses %j, naming the field',
    async (body) => {
      const { identity } = await bed.signUp();
      const answer = await bed.call('PATCH', '/auth/me', { identity, body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain('"name"');
    },
  );
});
