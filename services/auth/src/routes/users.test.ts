import { authRoutes } from '@backlot/contract';
import { asKey, asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, platform, type TestBed } from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

describe('listUsers', () => {
  let bed: TestBed;
  const ids: string[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) ids.unshift((await bed.signUp()).user.id);
    await bed.signUp({ project: otherProject });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.listUsers,
    () => bed.http,
    () => ({ path: '/projects/testproject/users' }),
  );

  const list = (query = '', identity = asOwner()) =>
    bed.call('GET', `/platform/projects/testproject/users${query}`, { identity });
  const readIds = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

  it('answers the users of the project, newest first, without anything secret', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(readIds(body)).toEqual(ids);
    expect(body).toMatchObject({ hasMore: false, nextCursor: null });
    expect(JSON.stringify(body)).not.toMatch(/argon2|hash/);
    expect((await list('', asOperator())).body).toEqual(body);
  });

  it('pages through all of them once', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...readIds(body));
      expect(body.hasMore).toBe(body.nextCursor !== null);
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  it('answers no items for a limit of 0', async () => {
    expect((await list('?limit=0')).body).toEqual({ items: [], hasMore: false, nextCursor: null });
  });

  it.each(['made-up', '', 'dTE6bm9uc2Vuc2U', '%00', 'x'.repeat(2048)])(
    'refuses the cursor "%.20s"',
    async (cursor) => {
      expect(await list(`?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      });
    },
  );

  it.each(['limit=-1', 'limit=x', 'limit=1.5', 'limit=1&limit=2'])(
    'refuses %s, naming the field',
    async (query) => {
      const answer = await list(`?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
      expect(answer.body.error).toContain('"limit"');
    },
  );
});

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
    bed.clock.pass(1000);
    const updatedAt = new Date(bed.clock.now()).toISOString();
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

  it('tells the gateway of a role at once, and of nothing else', async () => {
    const { user, sessionId } = await bed.signUp();
    const other = await bed.signUp();
    await bed.takeEvents();
    await update(user.id, { role: 'staff' });
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'user.changed',
        payload: { projectNumber: testProject.number, userIds: [user.id] },
      },
    ]);
    expect(await bed.findSession(sessionId)).toMatchObject({ role: 'staff', groups: [] });
    expect(await bed.findSession(other.sessionId)).toMatchObject({ role: 'user', groups: [] });
    await update(user.id, { name: 'Ada' });
    expect(await bed.takeEvents()).toEqual([]);
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

  it('lets a key change all but the role', async () => {
    const { user } = await bed.signUp();
    const refused = await update(user.id, { name: 'Eve', role: 'admin' }, asKey());
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.body.error).toContain('"role"');
    const { body } = await update(user.id, { name: 'Ada', emailVerified: true }, asKey());
    expect(body).toMatchObject({ name: 'Ada', role: 'user', emailVerified: true });
  });

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

describe('an owner who is not verified', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ config: { isOwnerVerificationOn: true } });
  });
  afterAll(() => bed.close());

  it('can not call users verified, and can once they are verified themselves', async () => {
    const owner = await bed.signUp({ project: platform });
    const { user } = await bed.signUp();
    const project = { ...testProject, ownerId: owner.user.id };
    const update = (body: object, identity = asOwner({ project, userId: owner.user.id })) =>
      bed.call('PATCH', `/platform/projects/testproject/users/${user.id}`, { identity, body });
    for (const identity of [undefined, asKey({ project })]) {
      expect(await update({ emailVerified: true }, identity)).toMatchObject({
        status: 403,
        body: { code: 'owner_unverified' },
      });
    }
    expect((await update({ role: 'editor', emailVerified: false })).body).toMatchObject({
      role: 'editor',
      emailVerified: false,
    });
    const byOperator = await update({ emailVerified: true }, asOperator({ project }));
    expect(byOperator.body).toMatchObject({ emailVerified: true });
    const inPlatform = asOperator({ project: platform });
    await bed.call('PATCH', `/platform/projects/platform/users/${owner.user.id}`, {
      identity: inPlatform,
      body: { emailVerified: true },
    });
    expect((await update({ emailVerified: true })).status).toBe(200);
  });
});

describe('deleteUser', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.deleteUser,
    () => bed.http,
    () => ({
      path: '/projects/testproject/users/018f0000-0000-7000-8000-000000000001',
    }),
  );

  const remove = (id: string) =>
    bed.call('DELETE', `/platform/projects/testproject/users/${id}`, { identity: asOwner() });

  it('erases the user and tells of the ended sessions and the erasure', async () => {
    const { user, identity, sessionId } = await bed.signUp();
    await bed.takeEvents();
    expect(await remove(user.id)).toMatchObject({ status: 200, body: { ok: true } });
    const projectNumber = testProject.number;
    expect(await bed.takeEvents()).toEqual([
      { topic: 'session.revoked', payload: { projectNumber, sessionIds: [sessionId] } },
      told('user.erased', user.id),
      {
        topic: 'user.erased',
        payload: {
          projectId: testProject.id,
          projectNumber,
          userId: user.id,
          email: user.email,
          emailVerified: false,
        },
      },
    ]);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(401);
    expect((await remove(user.id)).status).toBe(404);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it("knows no malformed id and no other project's user", async () => {
    const { user, identity } = await bed.signUp({ project: otherProject });
    for (const id of [user.id, 'nonsense', '%00']) expect((await remove(id)).status).toBe(404);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(200);
  });
});

describe('listOwners', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.listOwners,
    () => bed.http,
    () => ({ path: '/owners' }),
  );

  it('answers the users of the platform alone', async () => {
    const owner = await bed.signUp({ project: platform });
    await bed.signUp();
    const identity = asOperator({ project: platform });
    const { status, body } = await bed.call('GET', '/platform/owners', { identity });
    expect(status).toBe(200);
    const { profile: _, publicProfile: _shown, ...listed } = owner.user;
    expect(body).toEqual({ items: [listed], hasMore: false, nextCursor: null });
  });
});
