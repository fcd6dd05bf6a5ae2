import { authRoutes } from '@backlot/contract';
import { asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const unknownId = '018f0000-0000-7000-8000-000000000000';
refusesStrangers(
  authRoutes.deleteUserFactor,
  () => bed.http,
  () => ({ path: `/projects/${testProject.id}/users/${unknownId}/factors/${unknownId}` }),
);

const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
const ofUser = (userId: string) => `/platform/projects/${testProject.id}/users/${userId}/factors`;
const list = async ({ user }: Person) =>
  (await bed.call('GET', ofUser(user.id), { identity: asOwner() })).body;
const remove = (userId: string, id: string, identity = asOwner()) =>
  bed.call('DELETE', `${ofUser(userId)}/${id}`, { identity });

const withAll = async () => {
  const person = await bed.signUp();
  const { identity } = person;
  const asked = await bed.call('POST', '/auth/passkeys/options', { identity });
  const credential = createAuthenticator().create(asked.body);
  await bed.call('POST', '/auth/passkeys', { identity, body: { credential, name: 'Phone' } });
  await setUpApp(bed, person);
  await bed.database.query(
    `INSERT INTO identities (project_number, id, user_id, provider, label, issuer, subject, email, created_at, last_used_at)
     VALUES ($1, gen_random_uuid(), $2, 'google', 'Google', 'https://accounts.google.com', $3, 'a@example.org', now(), now())`,
    [testProject.number, person.user.id, `subject of ${person.email}`],
  );
  return { person, passkeyId: credential.id };
};

describe('what an owner sees of how a user signs in', () => {
  it('is factors, passkeys and linked accounts, without what opens them', async () => {
    const { person, passkeyId } = await withAll();
    const shown = await list(person);
    expect(shown).toMatchObject({
      items: [{ type: 'totp' }],
      recoveryCodesLeft: 10,
      passkeys: [{ name: 'Phone' }],
      identities: [{ provider: 'google', label: 'Google', email: 'a@example.org' }],
    });
    const text = JSON.stringify(shown);
    expect(text).not.toContain(passkeyId);
    expect(text).not.toMatch(/secret|subject|publicKey/);
  });

  it('is removed one by one, for support; every session ends each time', async () => {
    const { person } = await withAll();
    const shown = await list(person);
    const kinds = [];
    for (const [of, by] of [
      ['items', asOwner()],
      ['passkeys', asOperator()],
      ['identities', asOwner()],
    ] as const) {
      const { id } = shown[of][0];
      const { body } = await bed.signIn(person);
      const sessionId = body.token ? bed.readIdentity(body.token).sessionId : person.sessionId;
      expect((await remove(person.user.id, id, by)).status).toBe(200);
      expect(await bed.findSession(sessionId)).toBeNull();
      expect((await list(person))[of]).toEqual([]);
      expect((await remove(person.user.id, id, by)).status).toBe(404);
      kinds.push(of);
    }
    expect(await list(person)).toEqual({
      items: [],
      recoveryCodesLeft: 0,
      passkeys: [],
      identities: [],
    });
    expect((await bed.signIn(person)).body.token).toBeDefined();
    const events = await bed.call(
      'GET',
      `/platform/projects/${testProject.id}/users/${person.user.id}/events`,
      { identity: asOwner() },
    );
    const removed = events.body.items.filter(
      ({ detail }: { detail: string }) => detail === 'by the owner',
    );
    expect(removed.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'factor_removed',
      'identity_removed',
      'passkey_removed',
    ]);
  });

  it('is of no other user and no other project', async () => {
    const { person } = await withAll();
    const other = await bed.signUp();
    const shown = await list(person);
    const ids = [shown.items[0].id, shown.passkeys[0].id, shown.identities[0].id];
    for (const id of [...ids, 'nonsense', unknownId])
      expect((await remove(other.user.id, id)).status).toBe(404);
    for (const id of ids) expect((await remove(person.user.id, id, elsewhere)).status).toBe(404);
    expect((await remove('nonsense', ids[0])).status).toBe(404);
    expect(await list(person)).toEqual(shown);
    expect(await bed.findSession(person.sessionId)).not.toBeNull();
  });

  it('goes once, of many calls at the same time', async () => {
    const { person } = await withAll();
    const [{ id }] = (await list(person)).passkeys;
    const answers = await Promise.all([1, 2, 3, 4].map(() => remove(person.user.id, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  });
});
