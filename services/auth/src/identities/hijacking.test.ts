import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { callDuring } from '../testing/call-during.ts';
import { createOauthBed, type OauthBed } from '../testing/oauth-bed.ts';
import { goodPassword, type Person } from '../testing/test-bed.ts';

let bed: OauthBed;
beforeAll(async () => {
  bed = await createOauthBed();
});
afterAll(() => bed.close());

let people = 0;
const newAddress = () => `victim${++people}@example.org`;
const newIp = () => `198.51.100.${people % 250}`;

/** An account with somebody else's address, by a password or a provider that has not verified it. */
const begins = {
  'a password': (email: string) => bed.signUp({ email, ip: newIp() }),
  'a provider that has not verified it': async (email: string) => {
    bed.provider.people.set(`attacker ${email}`, { email, email_verified: false });
    const { body } = await bed.signInWith(`attacker ${email}`);
    return { identity: bed.readIdentity(body.token), token: body.token, user: body.user };
  },
};

const link = async ({ identity }: Pick<Person, 'identity'>, subject: string) => {
  bed.provider.signsInAs = subject;
  const { code, verifier } = await bed.travel();
  return bed.call('POST', '/auth/identities', { identity, body: { code, verifier } });
};

const addPasskey = async ({ identity }: Pick<Person, 'identity'>) => {
  const device = createAuthenticator();
  const { body } = await bed.call('POST', '/auth/passkeys/options', { identity });
  const credential = device.create(body);
  await bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
  return device;
};

/** All that may be left behind in an account; answers how to try all of it. */
const leaveBehind = async (email: string, attacker: Pick<Person, 'identity'>) => {
  const { identity } = attacker;
  await link(attacker, `left ${email}`);
  const device = await addPasskey(attacker);
  const { app } = await setUpApp(bed, attacker);
  const changed = await bed.call('POST', '/auth/email', {
    identity,
    body: { email: `mine${email}`, password: goodPassword },
  });
  const { body: waiting } = await bed.signIn({ email, password: goodPassword }, newIp());
  return async () => {
    const get = async () =>
      (await bed.call('POST', '/auth/passkeys/sign-in/options', { identity: anonymous() })).body;
    const tried = {
      session: await bed.call('GET', '/auth/me', { identity }),
      password: await bed.signIn({ email, password: goodPassword }, newIp()),
      identity: await bed.signInWith(`left ${email}`),
      first: await bed.signInWith(`attacker ${email}`),
      passkey: await bed.call('POST', '/auth/passkeys/sign-in', {
        body: { credential: device.get(await get()) },
      }),
      waiting: await bed.call('POST', '/auth/factors/verify', {
        body: { factorToken: waiting.factorToken ?? 'none', code: app.nextCode() },
      }),
    };
    return { tried, changed };
  };
};

/** How who has the address comes. */
const comes = {
  'a provider that has verified it': async (email: string) => {
    bed.provider.people.set(`victim ${email}`, { email, email_verified: true });
    return bed.signInWith(`victim ${email}`);
  },
  'the mailed link of a new password': async (email: string) => {
    await bed.takeEvents();
    await bed.call('POST', '/auth/forgot', { body: { email } });
    const token = await bed.mailedToken();
    const password = 'a password of the victim alone';
    await bed.call('POST', '/auth/reset', { body: { token, password } });
    return bed.signIn({ email, password }, newIp());
  },
};

describe.each(Object.entries(begins))(
  'an account with somebody else’s address, by %s',
  (_, begin) => {
    it.each(Object.entries(comes))('is theirs alone once they come by %s', async (_way, come) => {
      const email = newAddress();
      const attacker = await begin(email);
      const tryAll = await leaveBehind(email, attacker);
      const { status, body } = await come(email);
      expect([status, body.user]).toMatchObject([
        200,
        { id: attacker.user.id, email, emailVerified: true },
      ]);
      const victim = { identity: bed.readIdentity(body.token) };
      const { tried } = await tryAll();
      for (const [way, { body: got }] of Object.entries(tried))
        expect([way, got.user?.id === attacker.user.id, got.factorToken]).toEqual([
          way,
          false,
          undefined,
        ]);
      for (const path of ['/auth/passkeys', '/auth/factors', '/auth/identities']) {
        const { items } = (await bed.call('GET', path, victim)).body;
        expect(items.length).toBeLessThanOrEqual(path === '/auth/identities' ? 1 : 0);
      }
      expect((await bed.call('GET', '/auth/me', victim)).status).toBe(200);
    });
  },
);

it('a sign-in under way by a linked account ends with the link', async () => {
  const email = newAddress();
  const attacker = await bed.signUp({ email, ip: newIp() });
  await link(attacker, `left ${email}`);
  bed.provider.signsInAs = `left ${email}`;
  const travelled = await bed.travel();
  const signedIn = await callDuring(
    bed,
    attacker.user.id,
    'DELETE FROM identities WHERE user_id = $1',
    () => bed.exchange(travelled),
  );
  expect(signedIn).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
});

it('a sign-in under way by a linked account is asked for a factor that was set up meanwhile', async () => {
  const email = newAddress();
  const person = await bed.signUp({ email, ip: newIp() });
  await link(person, `linked ${email}`);
  const { body } = await bed.call('POST', '/auth/factors/totp', { identity: person.identity });
  expect(body.secret).toBeDefined();
  bed.provider.signsInAs = `linked ${email}`;
  const travelled = await bed.travel();
  const signedIn = await callDuring(
    bed,
    person.user.id,
    'UPDATE factors SET expires_at = NULL WHERE user_id = $1',
    () => bed.exchange(travelled),
  );
  expect(signedIn).toMatchObject({ status: 200, body: { factorToken: expect.any(String) } });
});

it('who came first and has verified the address loses nothing to whoever comes with it later', async () => {
  const email = newAddress();
  bed.provider.people.set(`victim ${email}`, { email, email_verified: true });
  const { body } = await bed.signInWith(`victim ${email}`);
  for (const begin of Object.values(begins)) await begin(email).catch(() => undefined);
  bed.provider.people.set('late', { email, email_verified: false });
  expect(await bed.signInWith('late')).toMatchObject({
    status: 409,
    body: { code: 'email_taken' },
  });
  const victim = { identity: bed.readIdentity(body.token) };
  expect((await bed.call('GET', '/auth/identities', victim)).body.items).toHaveLength(1);
});

it('where nobody signs up a provider’s unverified address does not tell who has an account', async () => {
  const known = newAddress();
  await bed.signUp({ email: known });
  const project = { ...bed.readIdentity((await bed.signUp()).token).project };
  const closed = { ...project, settings: { signUp: 'nobody' as const } };
  const answers = [];
  for (const email of [known, newAddress()]) {
    bed.provider.people.set(`asks ${email}`, { email, email_verified: false });
    const { status, body } = await bed.signInWith(`asks ${email}`, { project: closed });
    answers.push([status, body.code, body.error]);
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.[1]).toBe('sign_up_closed');
});

it('the last passkey stays where there is no other way in, of a passkey and an identity at once too', async () => {
  const email = newAddress();
  bed.provider.people.set(`only ${email}`, { email, email_verified: true });
  const { body } = await bed.signInWith(`only ${email}`);
  const identity = bed.readIdentity(body.token);
  await addPasskey({ identity });
  const one = async (path: string) => (await bed.call('GET', path, { identity })).body.items[0]?.id;
  const [passkey, linked] = [await one('/auth/passkeys'), await one('/auth/identities')];
  const answers = await Promise.all([
    bed.call('DELETE', `/auth/passkeys/${passkey}`, { identity }),
    bed.call('DELETE', `/auth/identities/${linked}`, { identity }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
});
