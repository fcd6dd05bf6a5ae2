import { authRoutes } from '@backlot/contract';
import { asKey, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const base = '/platform/projects/testproject';

describe('sessions of users, for owners', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const users = '/projects/testproject/users';
  for (const [route, path] of [
    [authRoutes.listUserSessions, `${users}/${unknownId}/sessions`],
    [authRoutes.endUserSessions, `${users}/${unknownId}/sessions`],
    [authRoutes.endUserSession, `${users}/${unknownId}/sessions/${unknownId}`],
    [authRoutes.listSignUps, '/projects/testproject/sign-ups'],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path }),
    );

  const call = (method: string, path: string, identity = asOwner()) =>
    bed.call(method, `${base}${path}`, { identity });
  const ids = async (userId: string) => {
    const { body } = await call('GET', `/users/${userId}/sessions`);
    return body.items.map(({ id }: { id: string }) => id);
  };
  const isLive = async (identity: ReturnType<typeof asOwner>) =>
    (await bed.call('GET', '/auth/me', { identity })).status === 200;

  it('are listed, and end one by one or all at once', async () => {
    const user = await bed.signUp();
    const second = await bed.signIn(user);
    const all = await ids(user.user.id);
    expect(all).toHaveLength(2);
    expect(all).toContain(user.sessionId);
    expect(
      (await call('DELETE', `/users/${user.user.id}/sessions/${user.sessionId}`)).body,
    ).toEqual({
      ok: true,
    });
    expect(await isLive(user.identity)).toBe(false);
    expect(await ids(user.user.id)).toEqual(all.filter((id: string) => id !== user.sessionId));
    expect((await call('DELETE', `/users/${user.user.id}/sessions`)).status).toBe(200);
    expect(await ids(user.user.id)).toEqual([]);
    expect(second).toBeDefined();
  });

  it('end for this user of this project alone', async () => {
    const user = await bed.signUp();
    const other = await bed.signUp();
    for (const id of [other.sessionId, unknownId, 'nonsense'])
      expect((await call('DELETE', `/users/${user.user.id}/sessions/${id}`)).status).toBe(404);
    for (const id of [unknownId, 'nonsense'])
      for (const method of ['GET', 'DELETE'])
        expect((await call(method, `/users/${id}/sessions`)).status).toBe(404);
    const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
    for (const method of ['GET', 'DELETE'])
      expect((await call(method, `/users/${user.user.id}/sessions`, elsewhere)).status).toBe(404);
    expect((await call('GET', `/users/${user.user.id}/sessions`, asKey())).status).toBe(403);
    expect(await isLive(other.identity)).toBe(true);
    expect(await isLive(user.identity)).toBe(true);
  });

  it('and sign-ups are told by day, of this project', async () => {
    await bed.signUp({ project: otherProject });
    const { body } = await call('GET', '/sign-ups?days=7');
    expect(body.items).toHaveLength(7);
    expect(body.items.at(-1)).toMatchObject({ signUps: 3, verified: 0 });
    expect(body.items[0]).toMatchObject({ signUps: 0 });
    for (const days of ['0', '367', 'x'])
      expect((await call('GET', `/sign-ups?days=${days}`)).status).toBe(400);
  });

  it('and users are found by how address or name begins', async () => {
    const { user, email } = await bed.signUp();
    await bed.call('PATCH', `${base}/users/${user.id}`, {
      identity: asOwner(),
      body: { name: '100%_\\ Grace' },
    });
    const found = async (q: string) => {
      const { status, body } = await call('GET', `/users?q=${encodeURIComponent(q)}`);
      return status === 200 ? body.items.map(({ id }: { id: string }) => id) : status;
    };
    expect(await found(email.toUpperCase().slice(0, -4))).toEqual([user.id]);
    for (const q of ['100%', '100%_', '100%_\\ gr']) expect(await found(q)).toEqual([user.id]);
    for (const q of ['%', '_', 'grace', '\\', "'"]) expect(await found(q)).toEqual([]);
    expect(await found('')).toBe(400);
    expect(await found('x'.repeat(101))).toBe(400);
  });
});
