import { authRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, otherProject, platform, type TestBed } from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

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

  it('tells the owner of the project who they are, by their token', async () => {
    const owner = await bed.signUp({ project: platform, name: 'Olga' });
    const project = { ...testProject, ownerId: owner.user.id };
    const identity = { ...owner.identity, project, caller: 'owner' as const };
    expect((await bed.call('GET', '/auth/me', { identity })).body).toEqual({
      user: owner.user,
      caller: 'owner',
    });
    await bed.call('POST', '/auth/signout', { identity: owner.identity });
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(401);
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
    bed.clock.pass(30 * dayMs);
    expect(await me({})).toMatchObject(refused);
  });
});

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
    bed.clock.pass(1000);
    const updatedAt = new Date(bed.clock.now()).toISOString();
    expect((await patch({ name: 'After' })).body.user).toEqual({
      ...user,
      name: 'After',
      updatedAt,
    });
    for (const body of [{ role: 'admin' }, { email: 'x@example.org' }, { emailVerified: true }]) {
      expect(await patch(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    }
    expect((await patch({})).body.user).toEqual({ ...user, name: 'After', updatedAt });
    expect((await patch({ name: null })).body.user.name).toBeNull();
  });

  it('keeps a profile of the app’s own, replaces it whole, and shows it to the user', async () => {
    const person = await bed.signUp();
    const { identity } = person;
    expect(person.user.profile).toEqual({});
    const patch = (body: unknown) => bed.call('PATCH', '/auth/me', { identity, body });
    const profile = {
      theme: 'dark',
      tags: ['a', null, 1.5, true],
      deep: { '': { ключ: 'Zoë 🦓' } },
    };
    expect((await patch({ profile })).body.user.profile).toEqual(profile);
    await patch({ name: 'Other' });
    expect((await bed.call('GET', '/auth/me', { identity })).body.user.profile).toEqual(profile);
    expect((await bed.signIn(person)).body.user.profile).toEqual(profile);
    const path = `/platform/projects/${testProject.id}/users`;
    const listed = await bed.call('GET', path, { identity: asOwner() });
    expect(listed.body.items.every((user: object) => !('profile' in user))).toBe(true);
    expect((await patch({ profile: { theme: 'light' } })).body.user.profile).toEqual({
      theme: 'light',
    });
    expect((await patch({ profile: {} })).body.user.profile).toEqual({});
  });

  it.each([
    ['profile', 8192],
    ['publicProfile', 2048],
  ])('takes a %s of %i bytes and no more', async (field, most) => {
    const { identity } = await bed.signUp();
    const fill = (bytes: number) => ({ a: 'ä'.repeat((bytes - 8) / 2) });
    const patch = (profile: unknown) =>
      bed.call('PATCH', '/auth/me', { identity, body: { [field]: profile } });
    expect((await patch(fill(most))).status).toBe(200);
    expect(await patch(fill(most + 2))).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', error: expect.stringContaining(`${most} bytes`) },
    });
  });

  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  it.each([
    null,
    [],
    'text',
    7,
    { a: 'x\0y' },
    { 'x\0y': 1 },
    { a: '\ud800' },
    { deep: nested(17) },
    JSON.parse('{"a":{"__proto__":{"b":1}}}'),
  ])('refuses the profile %j, naming the field', async (profile) => {
    const { identity } = await bed.signUp();
    const answer = await bed.call('PATCH', '/auth/me', { identity, body: { profile } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('"profile"');
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

describe('deleteMe', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.deleteMe,
    () => bed.http,
    () => ({ path: '/auth/me' }),
  );

  it('erases the account and its sessions, publishes both, and frees the e-mail address', async () => {
    const email = 'leaver@example.org';
    const person = await bed.signUp({ email });
    const elsewhere = await bed.signUp({ email, project: otherProject });
    const second = bed.readIdentity((await bed.signIn(person)).body.token);
    await bed.takeEvents();

    const { identity } = person;
    expect(await bed.call('DELETE', '/auth/me', { identity })).toMatchObject({
      status: 200,
      body: { ok: true },
    });

    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: {
          projectNumber: testProject.number,
          sessionIds: expect.arrayContaining([person.sessionId, second.sessionId]),
        },
      },
      told('user.erased', person.user.id),
      {
        topic: 'user.erased',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          userId: person.user.id,
          email: person.user.email,
          emailVerified: false,
        },
      },
    ]);
    for (const table of ['sessions', 'one_time_tokens', 'known_addresses']) {
      const left = await bed.database.query(`SELECT FROM ${table} WHERE user_id = $1`, [
        person.user.id,
      ]);
      expect(left).toHaveLength(0);
    }
    expect((await bed.call('GET', '/auth/me', { identity: second })).status).toBe(401);
    expect((await bed.signIn(person)).status).toBe(401);
    expect((await bed.call('GET', '/auth/me', { identity: elsewhere.identity })).status).toBe(200);
    const again = await bed.signUp({ email });
    expect(again.user.id).not.toBe(person.user.id);
  });

  it('publishes one erasure when called in parallel', async () => {
    const { identity } = await bed.signUp();
    await bed.takeEvents();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bed.call('DELETE', '/auth/me', { identity })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual([
      'session.revoked',
      'app.event',
      'user.erased',
    ]);
  });
});
