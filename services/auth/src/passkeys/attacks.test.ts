import type { IdentityProject } from '@backlot/identity';
import { anonymous, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { createTestBed, otherProject, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

let address = 0;
const options = async ({ identity }: Person) =>
  (await bed.call('POST', '/auth/passkeys/options', { identity })).body;
const keep = ({ identity }: Person, credential: unknown) =>
  bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
const ask = async (project: IdentityProject = testProject) =>
  (await bed.call('POST', '/auth/passkeys/sign-in/options', { identity: anonymous({ project }) }))
    .body;
const show = (credential: unknown, project: IdentityProject = testProject) =>
  bed.call('POST', '/auth/passkeys/sign-in', {
    identity: anonymous({ project, ip: `198.51.100.${++address}` }),
    body: { credential },
  });
const withPasskey = async () => {
  const person = await bed.signUp();
  const device = createAuthenticator();
  expect((await keep(person, device.create(await options(person)))).status).toBe(201);
  return { person, device };
};

it('a passkey names its own user, whatever handle it is shown with', async () => {
  const { device } = await withPasskey();
  const other = await withPasskey();
  const userHandle = Buffer.from(other.person.user.id).toString('base64url');
  expect((await show(device.get(await ask(), { userHandle }))).status).toBe(401);
  expect((await show({ ...device.get(await ask()), id: other.device.id })).status).toBe(401);
});

it('a passkey of somebody is taken over by nobody who knows its id', async () => {
  const { person, device } = await withPasskey();
  const attacker = await bed.signUp();
  const credential = createAuthenticator().create(await options(attacker));
  const stolen = device.create(await options(attacker));
  // The id that counts is the one that the authenticator has attested.
  await keep(attacker, { ...credential, id: device.id, rawId: device.id });
  expect((await keep(attacker, stolen)).status).toBe(409);
  const signedIn = await show(device.get(await ask(), { userHandle: '' }));
  expect(signedIn.body.user.id).toBe(person.user.id);
});

it('a challenge of one project, user or purpose is good for no other', async () => {
  const { person, device } = await withPasskey();
  const registration = await options(person);
  const shown = device.get({ challenge: registration.challenge, rpId: 'localhost' });
  expect((await show(shown)).status).toBe(401);
  expect((await show(device.get(await ask(otherProject)))).status).toBe(401);
  const other = await bed.signUp();
  const ofSignIn = { ...(await options(other)), challenge: (await ask()).challenge };
  expect((await keep(other, createAuthenticator().create(ofSignIn))).status).toBe(400);
  const ofAnother = { ...(await options(other)), challenge: registration.challenge };
  expect((await keep(other, createAuthenticator().create(ofAnother))).status).toBe(400);
});

it('a user who was not verified, and a counter that stands still, sign nobody in', async () => {
  const person = await bed.signUp();
  const device = createAuthenticator(undefined, { isCounting: true });
  const unverified = device.create(await options(person), { isUserVerified: false });
  expect((await keep(person, unverified)).status).toBe(400);
  expect((await keep(person, device.create(await options(person)))).status).toBe(201);
  expect((await show(device.get(await ask(), { isUserVerified: false }))).status).toBe(401);
  expect((await show(device.get(await ask(), { counter: 50 }))).status).toBe(200);
  for (const counter of [50, 49, 0])
    expect((await show(device.get(await ask(), { counter }))).status).toBe(401);
});

it('a passkey takes no more room than a passkey', async () => {
  const person = await bed.signUp();
  const kept = async (more: { idBytes?: number; keyPadding?: number }) => {
    const device = createAuthenticator(undefined, more);
    const { rawId: _, ...credential } = device.create(await options(person));
    return (await keep(person, { ...credential, id: 'x', rawId: 'x' })).status;
  };
  expect(await kept({ idBytes: 5000 })).toBe(400);
  expect(await kept({ keyPadding: 30_000 })).toBe(400);
  expect(await kept({ idBytes: 1000 })).toBe(201);
});

describe('what can not be', () => {
  it('is refused by name as a new passkey', async () => {
    const person = await bed.signUp();
    const change = async (change: (credential: ReturnType<typeof made>) => unknown) => {
      const credential = made(await options(person));
      return (await keep(person, change(credential))).status;
    };
    const made = (asked: Parameters<ReturnType<typeof createAuthenticator>['create']>[0]) =>
      createAuthenticator().create(asked);
    const encode = (data: unknown) => Buffer.from(JSON.stringify(data)).toString('base64url');
    for (const response of [
      { transports: ['a\0b'] },
      { transports: ['\ud800'] },
      { transports: [7] },
      { clientDataJSON: encode(null) },
      { clientDataJSON: encode([]) },
      { clientDataJSON: encode({ challenge: {}, origin: [] }) },
      { clientDataJSON: '' },
      { attestationObject: '' },
      { attestationObject: 'n'.repeat(40_000) },
      { attestationObject: Buffer.alloc(30_000, 0x81).toString('base64url') },
      { attestationObject: Buffer.from('bb7fffffffffffffff', 'hex').toString('base64url') },
    ]) {
      const status = await change((own) => ({
        ...own,
        response: { ...own.response, ...response },
      }));
      expect([response, status]).toEqual([response, 400]);
    }
    for (const more of [{ id: '' }, { id: 7 }, { type: 'x' }, { rawId: 'other' }, { response: 7 }])
      expect([more, await change((own) => ({ ...own, ...more }))]).toEqual([more, 400]);
  });

  it('is refused by name as a shown one', async () => {
    const { device } = await withPasskey();
    for (const response of [
      { authenticatorData: '' },
      { signature: '' },
      { authenticatorData: 'a'.repeat(8000) },
      { userHandle: '____' },
      { clientDataJSON: Buffer.from('{"challenge":"x","origin":"null"}').toString('base64url') },
      {
        clientDataJSON: Buffer.from('{"challenge":"x","origin":"x\\u0000"}').toString('base64url'),
      },
    ]) {
      const own = device.get(await ask());
      const { status } = await show({ ...own, response: { ...own.response, ...response } });
      expect([response, status >= 400 && status < 500]).toEqual([response, true]);
    }
  });
});
