import { authRoutes } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, hourMs, otherProject, type TestBed } from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

const password = 'a quite different phrase';

describe('resetPassword', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.resetPassword,
    () => bed.http,
    () => ({
      path: '/auth/reset',
      body: { token: 'x', password },
    }),
  );

  const reset = (body: unknown, project: IdentityProject = testProject) =>
    bed.call('POST', '/auth/reset', { identity: anonymous({ project }), body });
  const forgotten = async (email: string) => {
    await bed.call('POST', '/auth/forgot', { identity: anonymous(), body: { email } });
    return bed.mailedToken();
  };
  const invalid = { status: 400, body: { code: 'invalid_link' } };

  it('sets the password, ends every session and counts the address as verified', async () => {
    const person = await bed.signUp();
    const token = await forgotten(person.email);
    expect(await reset({ token, password })).toMatchObject({ status: 200, body: { ok: true } });
    const { id: userId, email } = person.user;
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'user.verified',
        payload: { projectNumber: testProject.number, userId, email },
      },
      told('user.verified', userId),
      {
        topic: 'session.revoked',
        payload: { projectNumber: testProject.number, sessionIds: [person.sessionId] },
      },
      {
        topic: 'notice.requested',
        payload: expect.objectContaining({ to: email, kind: 'password-changed' }),
      },
    ]);
    expect((await bed.signIn(person)).status).toBe(401);
    const { body } = await bed.signIn({ ...person, password });
    expect(body.user.emailVerified).toBe(true);
  });

  it('lets one of several parallel calls with one token win', async () => {
    const { email } = await bed.signUp();
    const token = await forgotten(email);
    const candidates = Array.from({ length: 10 }, (_, n) => `candidate number ${n}`);
    const answers = await Promise.all(
      candidates.map((candidate) => reset({ token, password: candidate })),
    );
    const winners = candidates.filter((_, n) => answers[n]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'invalid_link')).toHaveLength(9);
    expect((await bed.signIn({ email, password: String(winners[0]) })).status).toBe(200);
  });

  it('refuses a used, an outdated, a replaced and a made-up token, and one of another kind or project', async () => {
    const person = await bed.signUp();
    const verifyToken = await bed.mailedToken();
    const replaced = await forgotten(person.email);
    const token = await forgotten(person.email);
    const before = bed.hashed.hash;
    expect(await reset({ token: replaced, password })).toMatchObject(invalid);
    expect(await reset({ token: verifyToken, password })).toMatchObject(invalid);
    expect(await reset({ token: 'made up \0', password })).toMatchObject(invalid);
    expect(await reset({ token, password }, otherProject)).toMatchObject(invalid);
    bed.clock.pass(hourMs);
    expect(await reset({ token, password })).toMatchObject(invalid);
    expect(bed.hashed.hash).toBe(before);
    const fresh = await forgotten(person.email);
    expect((await reset({ token: fresh, password })).status).toBe(200);
    expect(await reset({ token: fresh, password })).toMatchObject(invalid);
  });

  it('leaves one working token of several requested in parallel', async () => {
    const { email } = await bed.signUp();
    await bed.takeEvents();
    await Promise.all(
      Array.from({ length: 5 }, () =>
        bed.call('POST', '/auth/forgot', { identity: anonymous(), body: { email } }),
      ),
    );
    expect(await bed.takeEvents()).toHaveLength(5);
    const live = await bed.database.query(
      `SELECT FROM one_time_tokens t JOIN users u ON u.id = t.user_id WHERE u.email = $1 AND purpose = 'reset'`,
      [email],
    );
    expect(live).toHaveLength(1);
  });

  it('keeps the token when the password is too weak', async () => {
    const { email } = await bed.signUp({ email: 'forgetful-one@example.org' });
    const token = await forgotten(email);
    for (const weak of ['password123', 'ｐａｓｓｗｏｒｄ１２３', email, 'forgetful-one']) {
      expect(await reset({ token, password: weak })).toMatchObject({
        status: 400,
        body: { code: 'password_too_weak' },
      });
    }
    expect((await reset({ token, password })).status).toBe(200);
  });

  it.each([
    [{ password }, 'token'],
    [{ token: '', password }, 'token'],
    [{ token: 'x'.repeat(129), password }, 'token'],
    [{ token: ['x'], password }, 'token'],
    [{ token: 'x' }, 'password'],
    [{ token: 'x', password: 'short77' }, 'password'],
  ])('refuses malformed input, naming the field (%#)', async (body, field) => {
    const answer = await reset(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });
});
