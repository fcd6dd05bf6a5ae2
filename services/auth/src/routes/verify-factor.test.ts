import { anonymous, asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createFactorCalls } from '../testing/factor-calls.ts';
import {
  createTestBed,
  dayMs,
  minuteMs,
  otherProject,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { factorToken, factorTokens, freshIp, list, signIn, verify } = createFactorCalls(() => bed);
const times = <T>(n: number, work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, turn) => work(turn)));

describe('a sign-in with a second factor', () => {
  it('answers what is asked for, and no session until a code has come', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const asked = await signIn(person);
    expect(asked.status).toBe(200);
    expect(asked.body).toEqual({
      factorToken: expect.any(String),
      factors: ['totp', 'recovery-code'],
    });
    const { status, body } = await verify({
      factorToken: asked.body.factorToken,
      code: app.nextCode(),
    });
    expect([status, body.user]).toEqual([200, person.user]);
    const { sessionId } = bed.readIdentity(body.token);
    expect(await bed.findSession(sessionId)).toMatchObject({ hasSecondFactor: true });
    expect(body.deviceToken).toBeUndefined();
  });

  it('takes codes as people type them, of the steps beside too', async () => {
    const person = await bed.signUp();
    const { app, recoveryCodes } = await setUpApp(bed, person);
    bed.clock.pass(2 * minuteMs);
    const early = app.code(-1);
    const spaced = `${early.slice(0, 3)} ${early.slice(3)}`;
    const send = async (code: string) =>
      (await verify({ factorToken: await factorToken(person), code })).status;
    expect(await send(app.code(-3))).toBe(401);
    expect(await send(spaced)).toBe(200);
    expect(await send(app.code(1))).toBe(200);
    expect(await send(app.code())).toBe(401);
    const [code = ''] = recoveryCodes;
    expect(await send(code.replaceAll('-', '').toUpperCase())).toBe(200);
  });

  it('takes a code once, also of 50 at once, in one sign-in or in many', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    for (const isOne of [true, false]) {
      const tokens = await factorTokens(person, isOne ? 1 : 50);
      const code = app.nextCode();
      const answers = await times(50, (turn) =>
        verify({ factorToken: tokens[turn % tokens.length] ?? '', code }, { ip: freshIp() }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      bed.clock.pass(dayMs);
    }
  });

  it('takes each recovery code once, also of 50 at once', async () => {
    const person = await bed.signUp();
    const { recoveryCodes } = await setUpApp(bed, person);
    const tokens = await factorTokens(person, 50);
    const answers = await times(50, (turn) =>
      verify({ factorToken: tokens[turn] ?? '', code: recoveryCodes[0] ?? '' }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await list(person)).recoveryCodesLeft).toBe(9);
  });

  it('is finished once, within 10 minutes, in its project', async () => {
    const person = await bed.signUp();
    const { app, recoveryCodes } = await setUpApp(bed, person);
    const token = await factorToken(person);
    const inOther = { factorToken: token, code: app.nextCode() };
    expect((await verify(inOther, { project: otherProject })).body.code).toBe('sign_in_expired');
    expect((await verify(inOther)).status).toBe(200);
    const again = { factorToken: token, code: recoveryCodes[0] ?? '' };
    expect(await verify(again)).toMatchObject({ status: 400, body: { code: 'sign_in_expired' } });
    const late = await factorToken(person);
    bed.clock.pass(10 * minuteMs);
    expect((await verify({ factorToken: late, code: app.code() })).body.code).toBe(
      'sign_in_expired',
    );
    expect((await verify({ factorToken: 'x', code: app.code() })).status).toBe(400);
  });

  it('is over once the password has changed meanwhile', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const waiting = await factorToken(person);
    const newPassword = 'another good long password';
    await bed.call('POST', '/auth/password', {
      identity: person.identity,
      body: { currentPassword: person.password, newPassword },
    });
    expect((await verify({ factorToken: waiting, code: app.nextCode() })).body.code).toBe(
      'sign_in_expired',
    );
    expect((await signIn({ ...person, password: newPassword })).body.factors).toEqual([
      'totp',
      'recovery-code',
    ]);
  });

  it('stays asked for after a new password by mail', async () => {
    const person = await bed.signUp();
    await bed.call('PATCH', `/platform/projects/${testProject.id}/users/${person.user.id}`, {
      identity: asOwner(),
      body: { emailVerified: true },
    });
    await setUpApp(bed, person);
    await bed.call('POST', '/auth/forgot', {
      identity: anonymous(),
      body: { email: person.email },
    });
    const password = 'another good long password';
    const token = await bed.mailedToken();
    await bed.call('POST', '/auth/reset', { identity: anonymous(), body: { token, password } });
    expect((await signIn({ ...person, password })).body.factorToken).toBeDefined();
  });

  it('lets 5 guesses through in 15 minutes and 30 a day, from however many addresses', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const guess = async (code = '000000') =>
      verify({ factorToken: await factorToken(person), code });
    const guessAtOnce = async (count: number) => {
      const tokens = await factorTokens(person, count);
      return Promise.all(tokens.map((token) => verify({ factorToken: token, code: '000000' })));
    };
    const first = await guessAtOnce(20);
    expect(first.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(first.filter(({ body }) => body.code === 'too_many_attempts')).toHaveLength(15);
    expect((await guess(app.nextCode())).status).toBe(429);
    let guesses = 5;
    for (let window = 0; window < 6; window++) {
      bed.clock.pass(15 * minuteMs);
      const answers = await guessAtOnce(6);
      guesses += answers.filter(({ status }) => status === 401).length;
    }
    expect(guesses).toBe(30);
    const elsewhere = { ip: '192.0.2.1' };
    const home = { factorToken: await factorToken(person), code: app.nextCode() };
    expect((await verify(home, elsewhere)).status).toBe(200);
    bed.clock.pass(dayMs);
    expect((await guess(app.nextCode())).status).toBe(200);
  });

  it('lets 30 guesses of an address through, whomever they are meant for', async () => {
    const people = await times(8, () => bed.signUp());
    for (const person of people) await setUpApp(bed, person);
    const ip = freshIp();
    const tokens = [];
    for (const person of people) tokens.push(...(await factorTokens(person, 5)));
    const answers = await Promise.all(
      tokens.map((token) => verify({ factorToken: token, code: '000000' }, { ip })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
  });

  it('works for owners', async () => {
    const owner = await bed.signUp({ project: platform });
    const { app } = await setUpApp(bed, owner);
    const asked = await signIn(owner, {}, platform);
    expect(asked.body.factors).toEqual(['totp', 'recovery-code']);
    const done = await verify(
      { factorToken: asked.body.factorToken, code: app.nextCode() },
      { project: platform },
    );
    expect(done.status).toBe(200);
  });
});

describe('sign-ins that wait for a second factor', () => {
  it('are 20 of an account, of many at once too: the oldest end', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const other = await bed.signUp();
    const { app: itsApp } = await setUpApp(bed, other);
    const its = await factorToken(other);
    const tokens = [];
    for (let n = 0; n < 21; n++) {
      bed.clock.pass(1000);
      tokens.push(await factorToken(person));
    }
    const [first, second] = tokens;
    const code = app.nextCode();
    expect((await verify({ factorToken: String(first), code })).body.code).toBe('sign_in_expired');
    expect((await verify({ factorToken: String(second), code })).status).toBe(200);
    await times(10, () => signIn(person));
    const { count } = (
      await bed.database.query<{ count: string }>(
        'SELECT count(*) FROM factor_tokens WHERE user_id = $1',
        [person.user.id],
      )
    )[0] ?? { count: '' };
    expect(Number(count)).toBe(20);
    expect((await verify({ factorToken: its, code: itsApp.nextCode() })).status).toBe(200);
  });
});
