import { authRoutes, events, type Payload } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepExpired } from '../cleanup.ts';
import { callDuring } from '../testing/call-during.ts';
import {
  createTestBed,
  dayMs,
  goodPassword,
  hourMs,
  minuteMs,
  otherProject,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

describe('codes by mail', () => {
  let bed: TestBed;
  let count = 0;
  const statements: string[] = [];
  beforeAll(async () => {
    const many = { max: 1000, windowMs: 1000 };
    bed = await createTestBed({
      limits: { signUpPerIp: many, ownerSignUpPerIp: many },
      onStatement: (text) => statements.push(text),
    });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.requestCode,
    () => bed.http,
    () => ({ path: '/auth/code', body: { email: `new${++count}@example.org` } }),
  );

  refusesStrangers(
    authRoutes.showSignInLink,
    () => bed.http,
    () => ({ path: '/auth/code/link', body: { token: 'x' } }),
  );

  const newEmail = () => `new${++count}@example.org`;
  const stranger = (project: Identity['project'] = testProject) =>
    anonymous({ ip: `203.0.113.${++count % 250}`, project });
  const ask = (email: string, as = stranger(), more: object = {}) =>
    bed.call('POST', '/auth/code', { identity: as, body: { email, ...more } });
  const verify = (body: object, as = stranger()) =>
    bed.call('POST', '/auth/code/verify', { identity: as, body });
  const mails = async (): Promise<Payload<'mail.requested'>[]> =>
    (await bed.takeEvents())
      .filter(({ topic }) => topic === 'mail.requested')
      .map(({ payload }) => events['mail.requested'].parse(payload));
  const mailed = async (email: string, as = stranger()) => {
    await bed.takeEvents();
    expect(await ask(email, as)).toMatchObject({ status: 200, body: { ok: true } });
    const [mail] = await mails();
    if (!mail?.code) throw new Error('no code was mailed');
    return { email, code: mail.code, token: mail.token };
  };
  const another = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  const isLive = async (token: string, project = testProject) =>
    (await bed.findSession(bed.readIdentity(token, project).sessionId, project)) !== null;

  it('sign up who is new, with a verified address and without a password', async () => {
    const email = newEmail();
    const { code } = await mailed(` ${email.toUpperCase()} `);
    const answer = await verify({
      email,
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
      name: 'Ada',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { isNew: true, user: { email, name: 'Ada', emailVerified: true, isGuest: false } },
    });
    expect(await isLive(answer.body.token)).toBe(true);
    const topics = (await bed.takeEvents()).map(({ topic }) => topic);
    expect(topics).toContain('user.verified');
    expect((await bed.signIn({ email, password: goodPassword })).status).toBe(401);
    const again = await mailed(email);
    expect(await verify(again)).toMatchObject({ status: 400 });
    const { code: next } = again;
    expect(await verify({ email, code: next })).toMatchObject({
      status: 200,
      body: { isNew: false, user: { id: answer.body.user.id } },
    });
  });

  it('leave a verified account its password and sessions', async () => {
    const person = await bed.signUp();
    const link = await bed.mailedToken();
    await bed.call('POST', '/auth/verify', { identity: person.identity, body: { token: link } });
    const { email, code } = await mailed(person.email);
    expect((await verify({ email, code })).body.user.id).toBe(person.user.id);
    expect(await isLive(person.token)).toBe(true);
    expect((await bed.signIn(person)).status).toBe(200);
  });

  it('take an account from who made it with an address that is not theirs', async () => {
    const attacker = await bed.signUp();
    const { email, code } = await mailed(attacker.email);
    const { body } = await verify({ email, code });
    expect(body).toMatchObject({
      isNew: false,
      user: { id: attacker.user.id, emailVerified: true },
    });
    expect(await isLive(attacker.token)).toBe(false);
    expect(await isLive(body.token)).toBe(true);
    expect((await bed.signIn(attacker)).status).toBe(401);
  });

  it('leave all to who made the account and has the address', async () => {
    const person = await bed.signUp();
    const { email, code } = await mailed(person.email);
    expect((await verify({ email, code }, person.identity)).status).toBe(200);
    expect(await isLive(person.token)).toBe(true);
    expect((await bed.signIn(person)).status).toBe(200);
  });

  it('begin one session, however many verify at once', async () => {
    for (const proof of ['code', 'token'] as const) {
      const email = newEmail();
      const { code, token } = await mailed(email);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => verify(proof === 'code' ? { email, code } : { token })),
      );
      const began = answers.filter(({ status }) => status === 200);
      expect(began).toHaveLength(1);
      const sessions = await bed.database.query('SELECT FROM sessions WHERE user_id = $1', [
        began[0]?.body.user.id,
      ]);
      expect(sessions).toHaveLength(1);
    }
  });

  it('ask for a second factor that was set up while they were verified', async () => {
    const { email, identity, user } = await bed.signUp({ email: newEmail() });
    await bed.database.query('UPDATE users SET email_verified = true WHERE id = $1', [user.id]);
    await bed.call('POST', '/auth/factors/totp', { identity });
    const { code } = await mailed(email);
    const setUp = 'UPDATE factors SET expires_at = NULL WHERE user_id = $1';
    const { status, body } = await callDuring(bed, user.id, setUp, () => verify({ email, code }));
    expect([status, body.token, body.factors]).toEqual([200, undefined, expect.anything()]);
  });

  it('allow five guesses each; the link of the mail stays good', async () => {
    const email = newEmail();
    const { code, token } = await mailed(email);
    const wrong = { email, code: another(code) };
    for (let n = 0; n < 5; n++)
      expect(await verify(wrong)).toMatchObject({
        status: 401,
        body: { code: 'invalid_credentials' },
      });
    expect((await verify({ email, code })).status).toBe(401);
    expect((await verify({ token })).status).toBe(200);
    expect(await verify({ token })).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
  });

  it('allow fifteen wrong guesses of an address in a day, over all its codes', async () => {
    const email = newEmail();
    for (let n = 0; n < 3; n++) {
      const { code } = await mailed(email);
      const wrong = Array.from({ length: 5 }, () => verify({ email, code: another(code) }));
      expect(new Set((await Promise.all(wrong)).map(({ status }) => status))).toEqual(
        new Set([401]),
      );
    }
    const { code, token } = await mailed(email);
    expect(await verify({ email, code })).toMatchObject({
      status: 429,
      body: { code: 'too_many_attempts' },
    });
    expect((await verify({ token })).status).toBe(200);
    bed.clock.pass(dayMs);
    const next = await mailed(email);
    expect((await verify({ email, code: next.code })).status).toBe(200);
  });

  it('end after ten minutes, with the next one, and with their use', async () => {
    const email = newEmail();
    const first = await mailed(email);
    const second = await mailed(email);
    expect((await verify({ token: first.token })).status).toBe(400);
    if (first.code !== second.code)
      expect((await verify({ email, code: first.code })).status).toBe(401);
    bed.clock.pass(10 * minuteMs);
    expect((await verify({ email, code: second.code })).status).toBe(401);
    expect((await verify({ token: second.token })).status).toBe(400);
    await sweepExpired(bed.database, bed.clock.now);
    expect(await bed.database.query('SELECT FROM sign_in_codes WHERE email = $1', [email])).toEqual(
      [],
    );
  });

  it('name the address of their link in part, as often as somebody asks, and nothing else', async () => {
    for (const [email, shown] of [
      ['adalovelace@example.org', 'ad…@example.org'],
      ['ada@example.org', 'a…@example.org'],
      ['a@example.org', 'a…@example.org'],
    ] as const) {
      await bed.call('POST', '/auth/code', { body: { email } });
      const token = await bed.mailedToken();
      const show = (project: Identity['project'] = testProject, body: unknown = { token }) =>
        bed.call('POST', '/auth/code/link', { identity: anonymous({ project }), body });
      expect((await show()).body).toEqual({ email: shown });
      expect((await show(otherProject)).body.code).toBe('invalid_link');
      const withoutCodes = { ...testProject, settings: { codes: false } };
      expect((await show(withoutCodes)).body.code).toBe('forbidden');
      expect((await show(testProject, { token: 1 })).status).toBe(400);
      const used = await bed.call('POST', '/auth/code/verify', { body: { token } });
      expect(used.status).toBe(200);
      expect((await show()).body.code).toBe('invalid_link');
    }
  });

  it('open nothing in another project, and no other address', async () => {
    const { email, code, token } = await mailed(newEmail());
    const elsewhere = stranger(otherProject);
    expect((await verify({ email, code }, elsewhere)).status).toBe(401);
    expect((await verify({ token }, elsewhere)).status).toBe(400);
    expect((await verify({ email: newEmail(), code })).status).toBe(401);
    expect((await verify({ token, email: newEmail() })).status).toBe(400);
    expect((await verify({ email, code })).status).toBe(200);
  });

  it('are not used up where what they open fails behind them', async () => {
    const email = newEmail();
    const { code } = await mailed(email);
    const rows = () => bed.database.query('SELECT FROM users WHERE email = $1', [email]);
    const alter = (change: string) => bed.ownerDatabase.query(`ALTER TABLE sessions ${change}`);
    await alter('ADD CONSTRAINT dies CHECK (false) NOT VALID');
    expect((await verify({ email, code })).status).toBe(500);
    await alter('DROP CONSTRAINT dies');
    expect(await rows()).toEqual([]);
    expect((await verify({ email, code })).status).toBe(200);
    expect(await rows()).toHaveLength(1);
  });

  it('take the same statements and answers for addresses with and without an account', async () => {
    const { email: known } = await bed.signUp();
    const traced = async (email: string) => {
      await bed.takeEvents();
      statements.length = 0;
      const answers = [await ask(email), await verify({ email, code: '000000' })];
      const sent = [...statements];
      const shown = answers.map(({ status, body: { requestId: _, ...body } }) => ({
        status,
        body,
      }));
      return { shown, sent, mails: (await mails()).length };
    };
    const unknown = await traced(newEmail());
    expect(unknown.sent.length).toBeGreaterThan(5);
    expect(await traced(known)).toEqual(unknown);
  });

  it('are for whom the app lets in: others are mailed nothing, and hear the same', async () => {
    const inProject = (settings: Record<string, unknown>) => ({ ...testProject, settings });
    const person = await bed.signUp();
    for (const signUp of ['nobody', 'invited', { domains: ['example.com'] }]) {
      const project = inProject({ signUp });
      await bed.takeEvents();
      expect(await ask(newEmail(), stranger(project))).toMatchObject({
        status: 200,
        body: { ok: true },
      });
      expect(await mails()).toEqual([]);
      const { email, code } = await mailed(person.email, stranger(project));
      expect((await verify({ email, code }, stranger(project))).status).toBe(200);
    }
    const email = newEmail();
    const { code } = await mailed(email);
    expect(await verify({ email, code }, stranger(inProject({ signUp: 'nobody' })))).toMatchObject({
      status: 403,
      body: { code: 'sign_up_closed' },
    });
    const off = stranger(inProject({ codes: false }));
    for (const answer of [await ask(email, off), await verify({ email, code }, off)]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(answer.body.hint).toContain('"codes"');
    }
  });

  it('refuse the address of an account that was erased while it was blocked', async () => {
    const person = await bed.signUp();
    await bed.database.query('UPDATE users SET blocked_at = now() WHERE id = $1', [person.user.id]);
    await bed.call('DELETE', '/auth/me', { identity: person.identity });
    await bed.takeEvents();
    expect((await ask(person.email)).status).toBe(200);
    expect(await mails()).toEqual([]);
  });

  it('sign owners in, who then count as verified', async () => {
    const email = newEmail();
    const { code } = await mailed(email, stranger(platform));
    const { status, body } = await verify({ email, code }, stranger(platform));
    expect({ status, body }).toMatchObject({ status: 200, body: { isNew: true } });
    const verified = (await bed.takeEvents()).filter(({ topic }) => topic === 'owner.verified');
    expect(verified.map(({ payload }) => payload)).toEqual([{ ownerId: body.user.id }]);
  });

  it('are mailed five times an hour to an address, and a hundred times from one', async () => {
    const email = newEmail();
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await ask(email)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    bed.clock.pass(hourMs);
    expect((await ask(email)).status).toBe(200);
    const one = anonymous({ ip: '198.51.100.77' });
    const fromOne: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      const asking = Array.from({ length: 15 }, () => ask(newEmail(), one));
      for (const { status } of await Promise.all(asking)) fromOne.push(status);
    }
    expect(fromOne.filter((status) => status === 429)).toHaveLength(5);
  });

  it.each([
    [{}],
    [{ email: 'a@example.org' }],
    [{ email: 'a@example.org', code: '12345' }],
    [{ email: 'a@example.org', code: '12345a' }],
    [{ email: 'a@example.org', code: '123456', token: 'x' }],
    [{ code: '123456' }],
  ])('refuse %j', async (body) => {
    expect(await verify(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });
});
