import { authRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../test-bed.ts';

describe('updateUser', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.updateUser,
    () => bed.http,
    () => ({
      path: '/projects/testproject/users/018f0000-0000-7000-8000-000000000001',
      body: { role: 'editor' },
    }),
  );

  const update = (id: string, body: unknown, identity = asOwner()) =>
    bed.call('PATCH', `/platform/projects/testproject/users/${id}`, { identity, body });

  it('sets name, role and verified state, each alone', async () => {
    const { user, identity } = await bed.signUp({ name: 'Ada' });
    bed.pass(1000);
    const updatedAt = new Date(bed.now()).toISOString();
    expect((await update(user.id, { role: 'editor' })).body).toEqual({
      ...user,
      role: 'editor',
      updatedAt,
    });
    await update(user.id, { emailVerified: true });
    const { status, body } = await update(user.id, { name: null });
    expect(status).toBe(200);
    expect(body).toEqual({ ...user, name: null, role: 'editor', emailVerified: true, updatedAt });
    expect((await bed.call('GET', '/auth/me', { identity })).body.user).toEqual(body);
  });

  it.each(['018f0000-0000-7000-8000-000000000001', 'nonsense', '%00', "'"])(
    'knows no user %s',
    async (id) => {
      expect(await update(id, { role: 'x' })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    },
  );

  it("knows no other project's user", async () => {
    const { user } = await bed.signUp({ project: otherProject });
    expect((await update(user.id, { role: 'admin' })).status).toBe(404);
  });

  it.each([
    [{ role: 'Not A Role' }, 'role'],
    [{ role: '' }, 'role'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ emailVerified: 'yes' }, 'emailVerified'],
    [{ email: 'x@example.org' }, 'email'],
  ])('refuses %j, naming the field', async (body, field) => {
    const { user } = await bed.signUp();
    const answer = await update(user.id, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });
});
