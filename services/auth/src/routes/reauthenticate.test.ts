import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createTestBed, minuteMs, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

refusesStrangers(
  authRoutes.reauthenticate,
  () => bed.http,
  () => ({ path: '/auth/reauthenticate', body: {} }),
);

let address = 0;
type Caller = Pick<Person, 'identity'>;
const reauthenticate = ({ identity }: Caller, body?: unknown) =>
  bed.call('POST', '/auth/reauthenticate', {
    identity: { ...identity, ip: `203.0.113.${++address}` },
    ...(body !== undefined && { body }),
  });
const addApp = ({ identity }: Caller) => bed.call('POST', '/auth/factors/totp', { identity });
const needed = { status: 403, body: { code: 'reauthentication_needed' } };

const withPasskey = async (person: Person) => {
  const { identity } = person;
  const made = await bed.call('POST', '/auth/passkeys/options', { identity });
  const credential = createAuthenticator().create(made.body);
  return (await bed.call('POST', '/auth/passkeys', { identity, body: { credential } })).body;
};

describe('a session that has shown no proof for 10 minutes', () => {
  it('changes no way of signing in', async () => {
    const person = await bed.signUp();
    const { identity } = person;
    const passkey = await withPasskey(person);
    bed.clock.pass(10 * minuteMs);
    expect((await addApp(person)).status).toBe(200);
    bed.clock.pass(1);
    for (const [method, path] of [
      ['POST', '/auth/factors/totp'],
      ['POST', '/auth/passkeys/options'],
      ['DELETE', `/auth/passkeys/${passkey.id}`],
      ['DELETE', '/auth/identities/018f0000-0000-7000-8000-000000000000'],
    ] as const)
      expect(await bed.call(method, path, { identity })).toMatchObject(needed);
    const { body } = await bed.call('GET', '/auth/passkeys', { identity });
    expect(body.items).toHaveLength(1);
  });

  it('erases no account, but a guest’s, which has nothing else to show', async () => {
    const person = await bed.signUp();
    const { body } = await bed.call('POST', '/auth/guest', { identity: anonymous() });
    const guest = { identity: bed.readIdentity(body.token) };
    const erase = ({ identity }: Caller) => bed.call('DELETE', '/auth/me', { identity });
    bed.clock.pass(10 * minuteMs + 1);
    expect((await erase(guest)).status).toBe(200);
    expect(await erase(person)).toMatchObject(needed);
    expect((await bed.call('GET', '/auth/me', person)).status).toBe(200);
    expect((await reauthenticate(person, { password: person.password })).status).toBe(200);
    expect((await erase(person)).status).toBe(200);
  });

  it('links no account, but for the time that a provider’s page takes', async () => {
    const { identity } = await bed.signUp();
    const body = { code: 'x', verifier: 'y'.repeat(43) };
    const link = () => bed.call('POST', '/auth/identities', { identity, body });
    bed.clock.pass(21 * minuteMs);
    expect((await link()).body.code).toBe('invalid_link');
    bed.clock.pass(1);
    expect(await link()).toMatchObject(needed);
  });

  it('is told so, and goes on with the password', async () => {
    const person = await bed.signUp();
    expect((await reauthenticate(person)).status).toBe(200);
    bed.clock.pass(11 * minuteMs);
    expect(await reauthenticate(person)).toMatchObject(needed);
    expect(await reauthenticate(person, {})).toMatchObject(needed);
    expect(await reauthenticate(person, { password: 'wrong' })).toMatchObject({
      status: 401,
      body: { code: 'invalid_credentials' },
    });
    expect(await addApp(person)).toMatchObject(needed);
    expect((await reauthenticate(person, { password: person.password })).status).toBe(200);
    expect((await addApp(person)).status).toBe(200);
    bed.clock.pass(11 * minuteMs);
    expect(await addApp(person)).toMatchObject(needed);
  });

  it('or with a code, which is good once and for this session alone', async () => {
    const person = await bed.signUp();
    const { app, recoveryCodes } = await setUpApp(bed, person);
    bed.clock.pass(11 * minuteMs);
    const code = app.nextCode();
    const other = await bed.signUp();
    bed.clock.pass(11 * minuteMs);
    expect((await reauthenticate(other, { code: app.nextCode() })).status).toBe(401);
    const fresh = app.nextCode();
    const answers = await Promise.all([1, 2, 3].map(() => reauthenticate(person, { code: fresh })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect((await reauthenticate(person, { code })).status).toBe(401);
    expect((await reauthenticate(person, { code: recoveryCodes[0] })).status).toBe(200);
    expect(await addApp(other)).toMatchObject(needed);
  });

  it('is proven by the password of its own account alone, as the password is now', async () => {
    const [person, other] = [
      await bed.signUp(),
      await bed.signUp({ password: 'another long one' }),
    ];
    bed.clock.pass(11 * minuteMs);
    expect((await reauthenticate(person, { password: other.password })).status).toBe(401);
    const changed = await bed.call('POST', '/auth/password', {
      identity: person.identity,
      body: { currentPassword: person.password, newPassword: 'a quite new long one' },
    });
    expect(changed.status).toBe(200);
    expect((await reauthenticate(person, { password: person.password })).status).toBe(401);
    expect((await reauthenticate(person, { password: 'a quite new long one' })).status).toBe(200);
  });

  it('does not speak for another session of the same account, and refresh is no proof', async () => {
    const person = await bed.signUp();
    bed.clock.pass(11 * minuteMs);
    const again = (await bed.signIn(person)).body;
    const second = { identity: bed.readIdentity(again.token) };
    bed.clock.pass(11 * minuteMs);
    expect((await reauthenticate(second, { password: person.password })).status).toBe(200);
    await bed.call('POST', '/auth/refresh', { identity: person.identity });
    expect(await addApp(person)).toMatchObject(needed);
    expect((await addApp(second)).status).toBe(200);
  });
});

it('counts guesses as sign-ins count them', async () => {
  const person = await bed.signUp();
  for (let n = 0; n < 10; n++)
    expect((await reauthenticate(person, { password: 'wrong' })).status).toBe(401);
  expect((await reauthenticate(person, { password: person.password })).status).toBe(429);
});

it('refuses both proofs at once, other types, and guests', async () => {
  const person = await bed.signUp();
  for (const body of [{ password: 'a', code: '123456' }, { password: 1 }, { code: [] }, []])
    expect((await reauthenticate(person, body)).status).toBe(400);
  const { body } = await bed.call('POST', '/auth/guest', { identity: anonymous() });
  const guest = { identity: bed.readIdentity(body.token) };
  expect((await reauthenticate(guest, { password: 'x' })).body.code).toBe('forbidden');
});
