import type { Identity } from '@backlot/identity';
import { asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createFactorCalls } from '../testing/factor-calls.ts';
import { createTestBed, dayMs, minuteMs, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { factorToken, signIn, verify } = createFactorCalls(() => bed);

describe('a remembered device', () => {
  const remembered = async (person: Person, code: string): Promise<string> =>
    (await verify({ factorToken: await factorToken(person), code, remember: true })).body
      .deviceToken;

  it('is asked for no code for 30 days, of its own user, until the password changes', async () => {
    const [anna, bob] = [await bed.signUp(), await bed.signUp()];
    const { app } = await setUpApp(bed, anna);
    await setUpApp(bed, bob);
    const deviceToken = await remembered(anna, app.nextCode());
    const { body } = await signIn(anna, { deviceToken });
    const { sessionId } = bed.readIdentity(body.token);
    expect(await bed.findSession(sessionId)).toMatchObject({ hasSecondFactor: true });
    expect((await signIn(bob, { deviceToken })).body.factorToken).toBeDefined();
    for (const wrong of ['', 'x', `${deviceToken}x`])
      expect((await signIn(anna, { deviceToken: wrong })).body.factorToken).toBeDefined();
    bed.clock.pass(30 * dayMs - 1);
    expect((await signIn(anna, { deviceToken })).body.token).toBeDefined();
    bed.clock.pass(1);
    expect((await signIn(anna, { deviceToken })).body.token).toBeUndefined();
    const next = await remembered(anna, app.nextCode());
    const newPassword = 'another good long password';
    const changed = { ...anna, password: newPassword };
    const { token } = (await signIn(anna, { deviceToken: next })).body;
    await bed.call('POST', '/auth/password', {
      identity: bed.readIdentity(token),
      body: { currentPassword: anna.password, newPassword },
    });
    expect((await signIn(changed, { deviceToken: next })).body.token).toBeUndefined();
  });

  it('is forgotten with a sign-out everywhere, by the user here or elsewhere, or by the owner', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const other = await bed.signUp();
    const { app: itsApp } = await setUpApp(bed, other);
    const itsDevice = await remembered(other, itsApp.nextCode());
    const ofOwner = `/projects/${testProject.id}/users/${person.user.id}/sessions`;
    for (const end of [
      (identity: Identity) => bed.call('DELETE', '/auth/sessions', { identity }),
      (identity: Identity) => bed.call('POST', '/auth/signout', { identity, body: { all: true } }),
      () => bed.call('DELETE', `/platform${ofOwner}`, { identity: asOwner() }),
    ]) {
      const deviceToken = await remembered(person, app.nextCode());
      const { token } = (await signIn(person, { deviceToken })).body;
      expect((await end(bed.readIdentity(token))).status).toBe(200);
      expect((await signIn(person, { deviceToken })).body.token).toBeUndefined();
    }
    expect((await signIn(other, { deviceToken: itsDevice })).body.token).toBeDefined();
    const left = await remembered(person, app.nextCode());
    const { token } = (await signIn(person, { deviceToken: left })).body;
    await bed.call('POST', '/auth/signout', { identity: bed.readIdentity(token) });
    expect((await signIn(person, { deviceToken: left })).body.token).toBeDefined();
  });

  it('is one of 20 of a user at most', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const first = await remembered(person, app.nextCode());
    for (let n = 0; n < 20; n++) {
      bed.clock.pass(minuteMs);
      await remembered(person, app.nextCode());
    }
    expect((await signIn(person, { deviceToken: first })).body.token).toBeUndefined();
  });
});
