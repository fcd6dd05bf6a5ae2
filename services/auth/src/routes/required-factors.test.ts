import type { Identity } from '@backlot/identity';
import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createFactorCalls } from '../testing/factor-calls.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { signIn } = createFactorCalls(() => bed);

describe('where a role takes two factors', () => {
  const strict = { ...testProject, settings: { mustUse2fa: ['user'] } };
  const addPasskey = async (identity: Identity) => {
    const { body, status } = await bed.call('POST', '/auth/passkeys/options', { identity });
    if (status !== 200) return { status, body };
    const credential = createAuthenticator().create(body);
    return bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
  };
  const inStrict = (person: Person, token = person.token) => bed.readIdentity(token, strict);

  it('a session of one sets up the first second factor, and is whole then', async () => {
    for (const setUp of [
      (identity: Identity) => setUpApp(bed, { identity }),
      (identity: Identity) => addPasskey(identity),
    ]) {
      const person = await bed.signUp();
      expect(await bed.findSession(person.sessionId)).not.toHaveProperty('hasSecondFactor');
      await setUp(inStrict(person));
      expect(await bed.findSession(person.sessionId)).toMatchObject({ hasSecondFactor: true });
    }
  });

  it('a passkey is asked for beside the password, where there is one', async () => {
    const person = await bed.signUp();
    await addPasskey(person.identity);
    expect((await signIn(person)).body.token).toBeDefined();
    expect((await signIn(person, {}, strict)).body).toEqual({
      factorToken: expect.any(String),
      factors: ['passkey'],
    });
  });

  it('a stolen password adds no factor beside one that is there', async () => {
    const person = await bed.signUp();
    await addPasskey(person.identity);
    const stolen = (await signIn(person)).body.token;
    const identity = inStrict(person, stolen);
    expect((await addPasskey(identity)).body.code).toBe('factor_first');
    expect(await bed.call('POST', '/auth/factors/totp', { identity })).toMatchObject({
      status: 403,
      body: { code: 'factor_first' },
    });
  });
});
