import type { Payload } from '@backlot/contract';
import { anonymous, asOwner } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  goodPassword,
  type Person,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

let addresses = 0;
const newAddress = () => `somebody${++addresses}@example.org`;
const invalid = { status: 400, body: { code: 'invalid_link' } };

describe('a click on a mailed link', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const post = (path: string, body: object, identity = anonymous()) =>
    bed.call('POST', path, { identity, body });
  const verify = (token: string, { password, by = anonymous() }: Proof = {}) =>
    post('/auth/verify', { token, password }, by);
  const confirm = (token: string, { password, by = anonymous() }: Proof = {}) =>
    post('/auth/change-email/confirm', { token, password }, by);
  const me = ({ identity }: Pick<Person, 'identity'>) => bed.call('GET', '/auth/me', { identity });
  const isLive = async (person: Person) => {
    const { project } = person.identity;
    return (await bed.findSession(person.sessionId, project)) !== null;
  };
  /** Somebody has signed up with an address that may be another's; the token is in the mail to it. */
  const signedUp = async (project = anonymous().project) => {
    await bed.takeEvents();
    const person = await bed.signUp({ email: newAddress(), project });
    return { person, token: await bed.mailedToken() };
  };
  const askForChange = async (person: Person, email: string) => {
    const answer = await post(
      '/auth/change-email',
      { email, password: goodPassword },
      person.identity,
    );
    expect(answer.status).toBe(200);
    const mails = await bed.take('mail.requested');
    return new Map(mails.map(({ to, token }) => [to, token]));
  };

  interface Proof {
    password?: string;
    by?: Person['identity'];
  }

  it.each([
    ['users', anonymous().project],
    ['owners', platform],
  ])(
    'that alone shows an address of %s to be somebody’s ends the sessions and the change before it',
    async (_who, project) => {
      const { person, token } = await signedUp(project);
      const second = await bed.signIn(person, '192.0.2.1', project);
      const email = newAddress();
      const change = (await askForChange(person, email)).get(email) ?? '';
      await bed.takeEvents();

      const by = anonymous({ project });
      expect((await verify(token, { by })).status).toBe(200);
      expect(await me(person)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
      expect((await me({ identity: bed.readIdentity(second.body.token, project) })).status).toBe(
        401,
      );
      expect(await confirm(change, { by })).toMatchObject(invalid);
      const stored = await bed.takeEvents();
      const find = (topic: string) => stored.find((event) => event.topic === topic)?.payload;
      const ended = find('session.revoked') as Payload<'session.revoked'>;
      expect(ended.sessionIds).toHaveLength(2);
      expect((await bed.signIn(person, '192.0.2.1', project)).status).toBe(401);

      const mail = find('mail.requested') as Payload<'mail.requested'>;
      expect(mail).toMatchObject({ to: person.email, template: 'reset-password' });
      const fresh = 'chosen by whoever has the address';
      expect((await post('/auth/reset', { token: mail.token, password: fresh }, by)).status).toBe(
        200,
      );
      const { body } = await bed.signIn({ ...person, password: fresh }, '192.0.2.1', project);
      expect(body.user).toMatchObject({ email: person.email, emailVerified: true });
    },
  );

  it.each<[string, (person: Person) => Proof]>([
    ['in a session of the account', ({ identity }) => ({ by: identity })],
    ['with its password', () => ({ password: goodPassword })],
  ])('%s ends nothing', async (_how, proof) => {
    const { person, token } = await signedUp();
    const email = newAddress();
    const change = (await askForChange(person, email)).get(email) ?? '';
    expect((await verify(token, proof(person))).status).toBe(200);
    expect((await me(person)).body.user).toMatchObject({ emailVerified: true });
    expect((await confirm(change, proof(person))).body).toEqual({ ok: true, changed: true });
    expect((await me(person)).body.user).toMatchObject({ email });
  });

  it('with the session or password of somebody else is no proof', async () => {
    const stranger = await bed.signUp({ password: 'the password of a stranger' });
    const { person, token } = await signedUp();
    expect(await verify(token, { password: 'the password of a stranger' })).toMatchObject({
      status: 401,
      body: { code: 'invalid_credentials', error: expect.stringContaining('"password"') },
    });
    expect(await isLive(person)).toBe(true);
    // Nothing was used up.
    expect((await verify(token, { by: stranger.identity })).status).toBe(200);
    expect([await isLive(person), await isLive(stranger)]).toEqual([false, true]);
    const other = await signedUp();
    expect((await verify(other.token, { by: asOwner() })).status).toBe(200);
    expect(await isLive(other.person)).toBe(false);
  });

  it('in a session that has ended verifies nothing', async () => {
    const { person, token } = await signedUp();
    await post('/auth/signout', {}, person.identity);
    expect((await verify(token, { by: person.identity })).body.code).toBe('invalid_token');
    expect((await verify(token)).status).toBe(200);
  });

  it('to an address that was verified before ends nothing', async () => {
    const { person, token } = await signedUp();
    const body = { emailVerified: true };
    const path = `/platform/projects/testproject/users/${person.user.id}`;
    await bed.call('PATCH', path, { identity: asOwner(), body });
    expect((await verify(token)).status).toBe(200);
    expect(await isLive(person)).toBe(true);
  });

  it('to a new address ends the sessions of whoever asked for it, and that to the present one does not', async () => {
    for (const first of ['present', 'fresh'] as const) {
      const { person, token } = await signedUp();
      await verify(token, { by: person.identity });
      const email = newAddress();
      const links = await askForChange(person, email);
      const [present, fresh] = [links.get(person.email) ?? '', links.get(email) ?? ''];
      if (first === 'present') {
        expect((await confirm(present)).status).toBe(200);
        expect(await isLive(person)).toBe(true);
      }
      expect((await confirm(fresh)).status).toBe(200);
      expect(await isLive(person)).toBe(false);
      if (first === 'fresh') expect((await confirm(present)).body.changed).toBe(true);
      expect((await bed.signIn({ email, password: goodPassword })).status).toBe(401);
    }
  });

  it('to a new address is worth nothing to whoever had the account: a new password ends the change', async () => {
    const { person, token } = await signedUp();
    await verify(token, { by: person.identity });
    const email = newAddress();
    const links = await askForChange(person, email);
    await confirm(links.get(email) ?? '');
    const [mail] = await bed.take('mail.requested');
    expect(mail?.to).toBe(person.email);
    await post('/auth/reset', { token: mail?.token, password: 'another one for the account' });
    expect(await confirm(links.get(person.email) ?? '')).toMatchObject(invalid);
  });

  it('and a change asked for at the same instant: the present address is asked, or the change ends', async () => {
    for (let round = 0; round < 8; round++) {
      const { person, token } = await signedUp();
      const email = newAddress();
      const [asked, verified] = await Promise.all([
        post('/auth/change-email', { email, password: goodPassword }, person.identity),
        verify(token),
      ]);
      expect(verified.status).toBe(200);
      expect([200, 401]).toContain(asked.status);
      for (const mail of await bed.take('mail.requested'))
        if (mail.to === email)
          expect(await confirm(mail.token)).not.toMatchObject({ body: { changed: true } });
      expect(await isLive(person)).toBe(false);
    }
  });

  it('of two at the same instant changes the address or verifies it, and leaves no session', async () => {
    for (let round = 0; round < 8; round++) {
      const { person, token } = await signedUp();
      const email = newAddress();
      const change = (await askForChange(person, email)).get(email) ?? '';
      const answers = await Promise.all([verify(token), confirm(change)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect(await isLive(person)).toBe(false);
    }
  });

  it('counts wrong passwords as failed sign-ins', async () => {
    const { person, token } = await signedUp();
    const by = anonymous({ ip: '198.51.100.77' });
    const answers = [];
    for (let n = 0; n < 12; n++) answers.push(await verify(token, { password: 'wrong', by }));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.at(-1)?.body.code).toBe('too_many_attempts');
    expect((await verify(token, { by: person.identity })).status).toBe(200);
  });
});
