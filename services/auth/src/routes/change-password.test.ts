import { authRoutes } from '@backlot/contract';
import { refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createArgon2Hasher } from '../passwords/passwords.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

const newPassword = 'a quite different phrase';

describe('changePassword', () => {
  let bed: TestBed;
  /** Holds the checks that begin while it is set. */
  let gate: Promise<void> | undefined;
  const argon2 = createArgon2Hasher({ memoryKib: 64, passes: 1, lanes: 1 });
  beforeAll(async () => {
    bed = await createTestBed({
      hasher: {
        ...argon2,
        async verify(hash, password) {
          await gate;
          return argon2.verify(hash, password);
        },
      },
    });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.changePassword,
    () => bed.http,
    () => ({
      path: '/auth/password',
      body: { currentPassword: 'x', newPassword },
    }),
  );

  const change = ({ identity }: Person, body: unknown) =>
    bed.call('POST', '/auth/password', { identity, body });
  const right = (person: Person, next = newPassword) => ({
    currentPassword: person.password,
    newPassword: next,
  });

  it('replaces the password and ends every other session', async () => {
    const person = await bed.signUp();
    const other = bed.readIdentity((await bed.signIn(person)).body.token);
    await bed.takeEvents();
    expect(await change(person, right(person))).toMatchObject({ status: 200, body: { ok: true } });
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: { projectNumber: testProject.number, sessionIds: [other.sessionId] },
      },
    ]);
    expect((await bed.call('GET', '/auth/me', { identity: person.identity })).status).toBe(200);
    expect((await bed.signIn(person)).status).toBe(401);
    expect((await bed.signIn({ ...person, password: newPassword })).status).toBe(200);
  });

  it('refuses a wrong current password and changes nothing', async () => {
    const person = await bed.signUp();
    await bed.takeEvents();
    expect(await change(person, { currentPassword: 'wrong', newPassword })).toMatchObject({
      status: 401,
      body: { code: 'invalid_credentials' },
    });
    expect(await bed.takeEvents()).toEqual([]);
    expect((await bed.signIn(person)).status).toBe(200);
  });

  it('counts a wrong current password as a failed sign-in', async () => {
    const person = await bed.signUp();
    const before = bed.hashed.verify;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => change(person, { currentPassword: 'wrong', newPassword })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(bed.hashed.verify - before).toBe(10);
    expect((await bed.signIn(person)).status).toBe(429);
  });

  it('lets one of several parallel changes win', async () => {
    const person = await bed.signUp();
    const candidates = Array.from({ length: 8 }, (_, n) => `candidate number ${n}`);
    const answers = await Promise.all(
      candidates.map((next) => change(person, right(person, next))),
    );
    const winners = candidates.filter((_, n) => answers[n]?.status === 200);
    expect(winners).toHaveLength(1);
    expect((await bed.signIn({ ...person, password: String(winners[0]) })).status).toBe(200);
  });

  it('leaves no session of a sign-in that was under way with the old password', async () => {
    const person = await bed.signUp();
    let letIn = () => {};
    gate = new Promise((resolve) => {
      letIn = resolve;
    });
    const before = bed.hashed.verify;
    const signingIn = bed.signIn(person);
    await until(() => bed.hashed.verify > before);
    gate = undefined;
    expect((await change(person, right(person))).status).toBe(200);
    letIn();
    expect((await signingIn).status).toBe(401);
    const sessions = await bed.database.query('SELECT id FROM sessions WHERE user_id = $1', [
      person.user.id,
    ]);
    expect(sessions).toEqual([{ id: person.sessionId }]);
  });

  it('makes a link for a new password worthless', async () => {
    const person = await bed.signUp();
    await bed.call('POST', '/auth/forgot', {
      identity: person.identity,
      body: { email: person.email },
    });
    const token = await bed.mailedToken();
    await change(person, right(person));
    const { identity } = person;
    const answer = await bed.call('POST', '/auth/reset', {
      identity,
      body: { token, password: 'yet another phrase' },
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
  });

  it('refuses a weak new password before it looks at the current one', async () => {
    const person = await bed.signUp({ email: 'weak-change@example.org' });
    const before = { ...bed.hashed };
    for (const weak of ['password123', 'ｐａｓｓｗｏｒｄ１２３', 'weak-change@example.org']) {
      const answer = await change(person, right(person, weak));
      expect(answer).toMatchObject({ status: 400, body: { code: 'password_too_weak' } });
    }
    expect(bed.hashed).toEqual(before);
  });

  it.each([
    [{ newPassword }, 'currentPassword'],
    [{ currentPassword: 'x' }, 'newPassword'],
    [{ currentPassword: 'x', newPassword: 'short77' }, 'newPassword'],
    [{ currentPassword: 'x'.repeat(1025), newPassword }, 'currentPassword'],
    [{ currentPassword: {}, newPassword }, 'currentPassword'],
  ])('refuses malformed input, naming the field (%#)', async (body, field) => {
    const answer = await change(await bed.signUp(), body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });
});
