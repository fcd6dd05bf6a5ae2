import { authRoutes } from '@backlot/contract';
import { asKey, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { createTestGroup } from '../testing/groups.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';

describe('exportUser', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.exportUser,
    () => bed.http,
    () => ({ path: `/projects/testproject/users/${unknownId}/export` }),
  );

  const exported = (id: string, identity = asOwner()) =>
    bed.call('GET', `/platform/projects/testproject/users/${id}/export`, { identity });

  it('has all of an account, and nothing that opens it', async () => {
    const { group, owner } = await createTestGroup(bed, ['member']);
    await bed.signIn(owner);
    const asked = await bed.call('POST', '/auth/passkeys/options', { identity: owner.identity });
    const credential = createAuthenticator().create(asked.body);
    await bed.call('POST', '/auth/passkeys', {
      identity: owner.identity,
      body: { credential, name: 'Phone' },
    });
    await bed.call('PATCH', '/auth/me', {
      identity: owner.identity,
      body: { profile: { theme: 'dark' } },
    });
    const { status, body } = await exported(owner.user.id);
    expect(status).toBe(200);
    expect(body.user).toMatchObject({ email: owner.email, profile: { theme: 'dark' } });
    expect(body.groups).toEqual([
      { id: group.id, name: 'Red team', role: 'owner', joinedAt: expect.any(String) },
    ]);
    const session = { createdAt: expect.any(String), expiresAt: expect.any(String) };
    expect(body.sessions).toMatchObject([session, session]);
    expect(body.signInEvents).toMatchObject([
      { kind: 'passkey_added', detail: 'Phone' },
      { kind: 'signed_in' },
      { kind: 'signed_in' },
    ]);
    expect(body.passkeys).toMatchObject([{ name: 'Phone', lastUsedAt: null }]);
    expect(body.factors).toEqual([]);
    const text = JSON.stringify(body);
    expect(text).not.toContain(credential.id);
    expect(text).not.toMatch(/argon2|hash|staple/);
    expect(text).not.toContain(owner.sessionId);
  });

  it('is of users of this project alone', async () => {
    const { user } = await bed.signUp();
    for (const id of [unknownId, 'nonsense']) expect((await exported(id)).status).toBe(404);
    const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
    expect((await exported(user.id, elsewhere)).status).toBe(404);
    expect((await exported(user.id, asKey())).status).toBe(403);
  });
});
