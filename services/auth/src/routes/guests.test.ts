import { authRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, goodPassword, hourMs, type TestBed } from '../testing/test-bed.ts';

describe('guests', () => {
  let bed: TestBed;
  let count = 0;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.createGuest,
    () => bed.http,
    () => ({ path: '/auth/guest' }),
  );

  const newEmail = () => `guest${++count}@example.org`;
  const begin = (as: Identity = anonymous({ ip: `203.0.113.${++count % 250}` })) =>
    bed.call('POST', '/auth/guest', { identity: as });
  const newGuest = async () => {
    const { status, body } = await begin();
    expect(status).toBe(201);
    return { ...body, identity: { ...bed.readIdentity(body.token), ip: '192.0.2.9' } };
  };
  const post = (path: string, body: object, identity: Identity) =>
    bed.call('POST', path, { identity, body });
  const codeFor = async (email: string, identity: Identity) => {
    await bed.takeEvents();
    await post('/auth/code', { email }, identity);
    const [mail] = await bed.take('mail.requested');
    return mail?.code;
  };

  it('have a session, and neither address nor password', async () => {
    const { user, identity } = await newGuest();
    expect(user).toMatchObject({ isGuest: true, email: null, emailVerified: false });
    expect(await bed.findSession(identity.sessionId)).toMatchObject({ isGuest: true });
    const changes = [
      post('/auth/password', { currentPassword: 'x', newPassword: goodPassword }, identity),
      post('/auth/change-email', { email: newEmail(), password: 'x' }, identity),
    ];
    for (const answer of await Promise.all(changes))
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('become users by sign-up and by code, with the same id, and apps are told of them then', async () => {
    const first = await newGuest();
    const email = newEmail();
    await bed.takeEvents();
    const made = await post('/auth/signup', { email, password: goodPassword }, first.identity);
    expect(made).toMatchObject({
      status: 201,
      body: { user: { id: first.user.id, email, isGuest: false } },
    });
    const told = (await bed.take('app.event')).map(({ type }) => type);
    expect(told).toEqual(['user.created']);
    expect((await bed.signIn({ email, password: goodPassword })).body.user.id).toBe(first.user.id);

    const second = await newGuest();
    const other = newEmail();
    const code = await codeFor(other, second.identity);
    const answer = await post('/auth/code/verify', { email: other, code }, second.identity);
    expect(answer.body).toMatchObject({
      isNew: true,
      user: { id: second.user.id, email: other, isGuest: false, emailVerified: true },
    });
    const { sessionId } = bed.readIdentity(answer.body.token);
    expect(await bed.findSession(sessionId)).not.toHaveProperty('isGuest');
    // Whoever else has come by the token of a guest has nothing of the user.
    for (const { identity } of [first, second])
      expect(await bed.findSession(identity.sessionId)).toBeNull();
  });

  it('become users by the link of a mail that they have asked for, and of no other', async () => {
    const [guest, other] = [await newGuest(), await newGuest()];
    const linkFor = async (email: string, identity: Identity) => {
      await bed.takeEvents();
      await post('/auth/code', { email }, identity);
      const [mail] = await bed.take('mail.requested');
      return { token: mail?.token, code: mail?.code };
    };
    const email = newEmail();
    for (const asker of [anonymous(), other.identity]) {
      const { token } = await linkFor(email, asker);
      expect(await post('/auth/code/verify', { token }, guest.identity)).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    }
    const alone = await linkFor(newEmail(), other.identity);
    const left = await post(
      '/auth/code/verify',
      { token: alone.token, merge: false },
      guest.identity,
    );
    expect(left.body).toMatchObject({ isNew: true, user: { isGuest: false } });
    expect(left.body.user.id).not.toBe(guest.user.id);
    const { token } = await linkFor(email, guest.identity);
    const made = await post('/auth/code/verify', { token }, guest.identity);
    expect(made.body).toMatchObject({ isNew: true, user: { id: guest.user.id, email } });
    // The code of a mail is typed by who has read it, whoever has asked for it.
    const typed = newEmail();
    const { code } = await linkFor(typed, anonymous());
    const read = await post('/auth/code/verify', { email: typed, code }, other.identity);
    expect(read.body.user.id).toBe(other.user.id);
  });

  it('are refused an address that has an account, which stays as it is, and the code is not used up', async () => {
    const person = await bed.signUp();
    const { user, identity } = await newGuest();
    const { email } = person;
    const taken = { status: 409, body: { code: 'email_taken' } };
    const password = 'another good password';
    expect(await post('/auth/signup', { email, password }, identity)).toMatchObject(taken);
    const code = await codeFor(email, identity);
    expect(await post('/auth/code/verify', { email, code }, identity)).toMatchObject(taken);
    const entered = await post('/auth/code/verify', { email, code }, anonymous());
    expect(entered.body.user.id).toBe(person.user.id);
    const me = await bed.call('GET', '/auth/me', { identity });
    expect(me.body.user).toMatchObject({ id: user.id, isGuest: true });
  });

  it('become one user, however many sign up with the token at once', async () => {
    const { identity, user } = await newGuest();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        post('/auth/signup', { email: newEmail(), password: goodPassword }, identity),
      ),
    );
    const made = answers.filter(({ body }) => body.user?.id === user.id);
    expect(made).toHaveLength(1);
  });

  it('are 30 an hour of an address', async () => {
    const one = anonymous({ ip: '198.51.100.30' });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn++)
      for (const { status } of await Promise.all(Array.from({ length: 11 }, () => begin(one))))
        statuses.push(status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    bed.clock.pass(hourMs);
    expect((await begin(one)).status).toBe(201);
  });

  it('are there where anyone may sign up and nobody must verify, or the owner says so', async () => {
    const statusWith = async (settings: Record<string, unknown>) => {
      const project = { ...testProject, settings };
      return (await begin(anonymous({ project, ip: `203.0.113.${++count % 250}` }))).status;
    };
    expect(await statusWith({ guests: false })).toBe(403);
    expect(await statusWith({ mustVerify: true })).toBe(403);
    expect(await statusWith({ signUp: 'nobody' })).toBe(403);
    expect(await statusWith({ signUp: 'nobody', guests: true })).toBe(201);
  });

  it('are erased after 30 days without a call, and nobody else is', async () => {
    const [idle, user] = [await newGuest(), await bed.signUp()];
    bed.clock.pass(29 * dayMs);
    const young = await newGuest();
    bed.clock.pass(2 * dayMs);
    await bed.takeEvents();
    const process = bed.another();
    await process.start();
    await process.stop();
    const left = await bed.database.query<{ id: string }>(
      'SELECT id FROM users WHERE id = ANY ($1)',
      [[idle.user.id, user.user.id, young.user.id]],
    );
    expect(left.map(({ id }) => id).sort()).toEqual([user.user.id, young.user.id].sort());
    const erased = (await bed.take('user.erased')).map(({ userId }) => userId);
    expect(erased).toContain(idle.user.id);
    expect(erased).not.toContain(young.user.id);
  });
});
