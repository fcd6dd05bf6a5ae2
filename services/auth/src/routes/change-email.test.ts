import { authRoutes, nobody } from '@backlot/contract';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  dayMs,
  goodPassword,
  hourMs,
  type NewPerson,
  otherProject,
  type Person,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

const invalid = { status: 400, body: { code: 'invalid_link' } };
let addresses = 0;
const newAddress = () => `new${++addresses}@example.org`;

describe('changeEmail', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.changeEmail,
    () => bed.http,
    () => ({ path: '/auth/change-email', body: { email: 'n@example.org', password: 'x' } }),
  );
  refusesStrangers(
    authRoutes.confirmEmailChange,
    () => bed.http,
    () => ({ path: '/auth/change-email/confirm', body: { token: 'x' } }),
  );

  const change = ({ identity }: Person, email: string, password = goodPassword) =>
    bed.call('POST', '/auth/change-email', { identity, body: { email, password } });
  /** As the platform's page does. */
  const confirm = (token: unknown, identity = anonymous(), password = goodPassword) =>
    bed.call('POST', '/auth/change-email/confirm', { identity, body: { token, password } });
  const me = async ({ identity }: Person) =>
    (await bed.call('GET', '/auth/me', { identity })).body.user;

  const verifiedPerson = async (given: NewPerson = {}): Promise<Person> => {
    const person = await bed.signUp(given);
    const token = await bed.mailedToken();
    await bed.call('POST', '/auth/verify', { identity: person.identity, body: { token } });
    await bed.takeEvents();
    return person;
  };
  /** The tokens that a request has mailed, by whom they went to. */
  const request = async (person: Person, email: string) => {
    expect(await change(person, email)).toMatchObject({ status: 200, body: { ok: true } });
    const mails = await bed.take('mail.requested');
    return Object.fromEntries(mails.map(({ to, token }) => [to, token]));
  };
  /** A verified user, and the links of their wish for a new address. */
  const asking = async (email = newAddress()) => {
    const person = await verifiedPerson();
    const tokens = await request(person, email);
    return { person, email, fresh: String(tokens[email]), present: String(tokens[person.email]) };
  };

  it('mails links to both addresses, and changes nothing by itself', async () => {
    const person = await verifiedPerson({ name: 'Ada' });
    await change(person, ' New.Address@Example.org ');
    const common = { projectId: 'testproject', expiresAt: expect.any(String) };
    expect(await bed.take('mail.requested')).toEqual([
      expect.objectContaining({
        ...common,
        to: 'new.address@example.org',
        name: null,
        template: 'confirm-new-email',
      }),
      expect.objectContaining({
        ...common,
        to: person.email,
        name: 'Ada',
        template: 'allow-email-change',
        newEmail: 'new.address@example.org',
      }),
    ]);
    expect(await me(person)).toEqual({ ...person.user, emailVerified: true });
  });

  it.each(['fresh', 'present'] as const)(
    'changes the address once both links were followed, the %s one first; sessions go on',
    async (first) => {
      const { person, email, ...links } = await asking();
      const second = first === 'fresh' ? links.present : links.fresh;
      expect((await confirm(links[first])).body).toEqual({ ok: true, changed: false });
      expect((await me(person)).email).toBe(person.email);
      expect(await confirm(links[first])).toMatchObject(invalid);
      expect((await confirm(second)).body).toEqual({ ok: true, changed: true });
      expect(await confirm(second)).toMatchObject(invalid);
      expect(await me(person)).toMatchObject({ id: person.user.id, email, emailVerified: true });
      expect((await bed.signIn(person)).status).toBe(401);
      expect((await bed.signIn({ email, password: goodPassword })).status).toBe(200);
      const { items } = (await bed.call('GET', '/auth/events', { identity: person.identity })).body;
      expect(items[1]).toMatchObject({ kind: 'email_changed', times: 1 });
      expect(await bed.takeEvents()).toEqual([
        {
          topic: 'user.verified',
          payload: { projectNumber: testProject.number, userId: person.user.id, email },
        },
        told('user.verified', person.user.id),
        {
          topic: 'user.verified',
          payload: { projectNumber: testProject.number, userId: nobody, email: person.email },
        },
      ]);
      const { users } = bed.service.directories;
      const holders = [email, person.email].map((of) => users.findHolder(testProject.number, of));
      expect(await Promise.all(holders)).toEqual([person.user.id, null]);
    },
  );

  it('takes each link once, even when all are followed in parallel', async () => {
    const { person, email, fresh, present } = await asking();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => confirm(n % 2 ? fresh : present)),
    );
    const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.changed);
    expect(done.sort()).toEqual([false, true]);
    expect(answers.filter(({ body }) => body.code === 'invalid_link')).toHaveLength(10);
    expect((await me(person)).email).toBe(email);
  });

  it('asks the new address alone where the present one was never verified', async () => {
    const person = await bed.signUp();
    const verifying = await bed.mailedToken();
    const email = newAddress();
    const tokens = await request(person, email);
    expect(Object.keys(tokens)).toEqual([email]);
    expect((await confirm(tokens[email])).body.changed).toBe(true);
    expect(await me(person)).toMatchObject({ email, emailVerified: true });
    const identity = anonymous();
    expect(
      await bed.call('POST', '/auth/verify', { identity, body: { token: verifying } }),
    ).toMatchObject(invalid);
  });

  it('goes by the latest wish alone', async () => {
    const { person, ...older } = await asking();
    const email = newAddress();
    const tokens = await request(person, email);
    for (const token of [older.fresh, older.present])
      expect(await confirm(token)).toMatchObject(invalid);
    await confirm(tokens[person.email]);
    expect((await confirm(tokens[email])).body.changed).toBe(true);
    expect((await me(person)).email).toBe(email);
  });

  it('answers the same whoever has the new address; who follows both links learns that it is taken', async () => {
    const other = await bed.signUp();
    await bed.takeEvents();
    const { person, fresh, present } = await asking(other.email);
    expect((await confirm(fresh)).body).toEqual({ ok: true, changed: false });
    const taken = { status: 409, body: { code: 'email_taken' } };
    expect(await confirm(present)).toMatchObject(taken);
    expect((await me(person)).email).toBe(person.email);
    // Nothing is used up: once the address is free the link works.
    await bed.call('DELETE', '/auth/me', { identity: other.identity });
    expect((await confirm(present)).body.changed).toBe(true);
    expect((await me(person)).email).toBe(other.email);
  });

  it('gives an address to one of several who want it at the same time', async () => {
    const email = newAddress();
    const wishes = [await asking(email), await asking(email), await asking(email)];
    for (const { fresh } of wishes) await confirm(fresh);
    const signingUp = bed.call('POST', '/auth/signup', {
      identity: anonymous(),
      body: { email, password: goodPassword },
    });
    const answers = await Promise.all([
      ...wishes.map(({ present }) => confirm(present)),
      signingUp,
    ]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'email_taken')).toHaveLength(3);
  });

  it('leaves no link in the former mailbox that opens the account, in parallel too', async () => {
    for (let round = 0; round < 8; round++) {
      const { person, fresh, present } = await asking();
      const forgot = () =>
        bed.call('POST', '/auth/forgot', {
          identity: anonymous({ ip: `192.0.2.${round + 10}` }),
          body: { email: person.email },
        });
      await forgot();
      await confirm(fresh);
      await Promise.all([forgot(), confirm(present), forgot()]);
      const mails = await bed.take('mail.requested');
      expect(mails.length).toBeGreaterThan(0);
      for (const { token } of mails) {
        const body = { token, password: 'a stolen long password' };
        expect(
          await bed.call('POST', '/auth/reset', { identity: anonymous(), body }),
        ).toMatchObject(invalid);
      }
    }
  });

  it('ends with a new password', async () => {
    const { person, fresh, present } = await asking();
    const body = { currentPassword: goodPassword, newPassword: 'another good password' };
    await bed.call('POST', '/auth/password', { identity: person.identity, body });
    for (const token of [fresh, present]) expect(await confirm(token)).toMatchObject(invalid);

    const second = await asking();
    await bed.call('POST', '/auth/forgot', {
      identity: anonymous(),
      body: { email: second.person.email },
    });
    const token = await bed.mailedToken();
    const reset = { token, password: 'another good password' };
    await bed.call('POST', '/auth/reset', { identity: anonymous(), body: reset });
    for (const link of [second.fresh, second.present])
      expect(await confirm(link)).toMatchObject(invalid);
  });

  it('refuses a wrong password, one’s own address, and links of another project or day', async () => {
    const person = await verifiedPerson();
    expect(await change(person, newAddress(), 'not the password')).toMatchObject({
      status: 401,
      body: { code: 'invalid_credentials' },
    });
    expect(await change(person, person.email.toUpperCase())).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', error: expect.stringContaining('"email"') },
    });
    expect(await bed.takeEvents()).toEqual([]);
    const { fresh, present } = await asking();
    for (const token of [fresh, present]) {
      expect(await confirm(token, anonymous({ project: otherProject }))).toMatchObject(invalid);
    }
    expect(await confirm('made up')).toMatchObject(invalid);
    bed.clock.pass(dayMs);
    for (const token of [fresh, present]) expect(await confirm(token)).toMatchObject(invalid);
  });

  it('is bounded for a user and for an address', async () => {
    const person = await verifiedPerson();
    const answers = await Promise.all(
      Array.from({ length: 13 }, () => change(person, newAddress())),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ body }) => body.code === 'too_many_attempts')).toHaveLength(3);
    bed.clock.pass(hourMs);
    expect((await change(person, newAddress())).status).toBe(200);
    await bed.takeEvents();
  });

  it('goes with the account', async () => {
    const { person, fresh } = await asking();
    await bed.call('DELETE', '/auth/me', { identity: person.identity });
    expect(await confirm(fresh)).toMatchObject(invalid);
    const rows = 'SELECT FROM email_changes WHERE user_id = $1';
    expect(await bed.database.query(rows, [person.user.id])).toEqual([]);
  });

  it('verifies an owner, as every proof of their address does', async () => {
    const owner = await bed.signUp({ project: platform });
    await bed.takeEvents();
    const email = newAddress();
    const tokens = await request(owner, email);
    await confirm(tokens[email], anonymous({ project: platform }));
    expect(await bed.takeEvents()).toEqual([
      { topic: 'owner.verified', payload: { ownerId: owner.user.id } },
    ]);
  });
});
