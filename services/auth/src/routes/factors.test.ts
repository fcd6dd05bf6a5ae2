import { authRoutes } from '@backlot/contract';
import type { Identity, IdentityProject } from '@backlot/identity';
import { anonymous, asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { createAuthenticatorApp, setUpApp } from '../testing/authenticator-app.ts';
import {
  createTestBed,
  dayMs,
  minuteMs,
  otherProject,
  type Person,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

let address = 0;
const freshIp = () => `203.0.113.${++address}`;
const times = <T>(n: number, work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, turn) => work(turn)));

const verify = (
  body: { factorToken: string; code: string; remember?: boolean },
  { ip = freshIp(), project = testProject }: Partial<Pick<Identity, 'ip' | 'project'>> = {},
) => bed.call('POST', '/auth/factors/verify', { identity: anonymous({ ip, project }), body });

const signIn = async (person: Person, more: object = {}, project: IdentityProject = testProject) =>
  bed.call('POST', '/auth/signin', {
    identity: anonymous({ ip: freshIp(), project }),
    body: { email: person.email, password: person.password, ...more },
  });
const factorToken = async (person: Person): Promise<string> =>
  (await signIn(person)).body.factorToken;
/** One after another: sign-ins of an account that are under way count as failed. */
const factorTokens = async (person: Person, count: number): Promise<string[]> => {
  const tokens = [];
  for (let n = 0; n < count; n++) tokens.push(await factorToken(person));
  return tokens;
};
const list = async ({ identity }: Pick<Person, 'identity'>) =>
  (await bed.call('GET', '/auth/factors', { identity })).body;

describe('strangers', () => {
  const id = '018f0000-0000-7000-8000-000000000000';
  const ofUser = `/projects/${testProject.id}/users/${id}/factors`;
  for (const [route, path, body] of [
    [authRoutes.createTotp, '/auth/factors/totp'],
    [authRoutes.confirmTotp, '/auth/factors/totp/confirm', { code: '123456' }],
    [authRoutes.listFactors, '/auth/factors'],
    [authRoutes.deleteFactor, `/auth/factors/${id}`, { code: '123456' }],
    [authRoutes.verifyFactor, '/auth/factors/verify', { factorToken: 'x', code: '123456' }],
    [authRoutes.listUserFactors, ofUser],
    [authRoutes.resetUserFactors, ofUser],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path, ...(body && { body }) }),
    );
});

describe('an authenticator app', () => {
  it('is set up by a secret and a first code, and answers ten recovery codes once', async () => {
    const person = await bed.signUp({ email: 'ada@example.org' });
    const { identity } = person;
    const { body } = await bed.call('POST', '/auth/factors/totp', { identity });
    const uri = new URL(body.uri);
    expect(decodeURIComponent(uri.pathname)).toBe('/Test project:ada@example.org');
    expect(uri.searchParams.get('secret')).toBe(body.secret);
    expect(await list(person)).toEqual({ items: [], recoveryCodesLeft: 0 });
    expect((await signIn(person)).body.token).toBeDefined();
    const app = createAuthenticatorApp(bed, body.secret);
    const confirm = (code: string) =>
      bed.call('POST', '/auth/factors/totp/confirm', { identity, body: { code } });
    expect((await confirm('000000')).status).toBe(401);
    const { recoveryCodes } = (await confirm(app.code())).body;
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(recoveryCodes[0]).toMatch(/^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/);
    expect(await list(person)).toMatchObject({
      items: [{ type: 'totp' }],
      recoveryCodesLeft: 10,
    });
    expect((await confirm(app.nextCode())).body.code).toBe('conflict');
    const again = await bed.call('POST', '/auth/factors/totp', { identity });
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('and recovery codes are kept sealed and hashed', async () => {
    const person = await bed.signUp();
    const { recoveryCodes } = await setUpApp(bed, person);
    const { body } = await bed.call('POST', '/auth/factors/totp', {
      identity: (await bed.signUp()).identity,
    });
    const rows = await bed.database.query<{ row: string }>(
      'SELECT factors::text AS row FROM factors UNION ALL SELECT recovery_codes::text FROM recovery_codes',
    );
    const kept = rows.map(({ row }) => row).join('\n');
    for (const secret of [body.secret, ...recoveryCodes]) {
      expect(kept).not.toContain(secret);
      expect(kept).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('waits an hour for its first code; one begun anew ends the one before', async () => {
    const { identity, password } = await bed.signUp();
    const begin = async () =>
      createAuthenticatorApp(
        bed,
        (await bed.call('POST', '/auth/factors/totp', { identity })).body.secret,
      );
    const confirm = async (code: string) =>
      (await bed.call('POST', '/auth/factors/totp/confirm', { identity, body: { code } })).status;
    expect(await confirm('123456')).toBe(409);
    const [first, second] = [await begin(), await begin()];
    expect(await confirm(first.code())).toBe(401);
    bed.clock.pass(60 * minuteMs);
    expect(await confirm(second.code())).toBe(409);
    await bed.call('POST', '/auth/reauthenticate', { identity, body: { password } });
    expect(await confirm((await begin()).code())).toBe(200);
  });

  it('is confirmed once of 50 at once: the codes that were shown are good', async () => {
    const person = await bed.signUp();
    const { identity } = person;
    const { body } = await bed.call('POST', '/auth/factors/totp', { identity });
    const code = createAuthenticatorApp(bed, body.secret).code();
    const answers = await times(50, () =>
      bed.call('POST', '/auth/factors/totp/confirm', { identity, body: { code } }),
    );
    const [done, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const { status } = await verify({
      factorToken: await factorToken(person),
      code: done?.body.recoveryCodes[3],
    });
    expect(status).toBe(200);
  });

  it('ends every other session, and a sign-in that was under way', async () => {
    const person = await bed.signUp();
    const other = (await bed.signIn(person)).body.token;
    await setUpApp(bed, person);
    const isLive = async (token: string) =>
      (await bed.findSession(bed.readIdentity(token).sessionId)) !== null;
    expect(await isLive(other)).toBe(false);
    expect(await isLive(person.token)).toBe(true);
    expect(await bed.findSession(person.sessionId)).toMatchObject({ hasSecondFactor: true });
    const changed = (await bed.take('user.changed')).map(({ userIds }) => userIds);
    expect(changed).toContainEqual([person.user.id]);
  });

  it('takes a code to go, and takes recovery codes and remembered devices with it', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const { body } = await verify({
      factorToken: await factorToken(person),
      code: app.nextCode(),
      remember: true,
    });
    const [{ id }] = (await list(person)).items;
    const remove = async (code: string, identity = person.identity) =>
      (await bed.call('DELETE', `/auth/factors/${id}`, { identity, body: { code } })).status;
    const stranger = await bed.signUp();
    expect(await remove(app.nextCode(), stranger.identity)).toBe(404);
    expect(await remove('000000')).toBe(401);
    expect(await remove(app.nextCode())).toBe(200);
    expect(await remove(app.nextCode())).toBe(404);
    expect(await list(person)).toEqual({ items: [], recoveryCodesLeft: 0 });
    expect((await signIn(person)).body.token).toBeDefined();
    await setUpApp(bed, person);
    expect((await signIn(person, { deviceToken: body.deviceToken })).body.token).toBeUndefined();
  });

  it('is no guest’s, and ends with the proof that the address is somebody else’s', async () => {
    const person = await bed.signUp();
    const link = (await bed.take('mail.requested')).findLast(({ to }) => to === person.email);
    await setUpApp(bed, person);
    await bed.call('POST', '/auth/verify', {
      identity: anonymous({ ip: freshIp() }),
      body: { token: link?.token },
    });
    for (const table of ['factors', 'recovery_codes'])
      expect(
        await bed.database.query(`SELECT FROM ${table} WHERE user_id = $1`, [person.user.id]),
      ).toEqual([]);
  });
});

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

describe('a remembered device', () => {
  const remembered = async (person: Person, code: string): Promise<string> =>
    (await verify({ factorToken: await factorToken(person), code, remember: true })).body
      .deviceToken;

  it('is asked for no code for 30 days, of its own user, until the password changes', async () => {
    const [anna, bob] = [await bed.signUp(), await bed.signUp()];
    const { app } = await setUpApp(bed, anna);
    await setUpApp(bed, bob);
    const deviceToken = await remembered(anna, app.nextCode());
    const { body } = await signIn(anna, { deviceToken });
    const { sessionId } = bed.readIdentity(body.token);
    expect(await bed.findSession(sessionId)).toMatchObject({ hasSecondFactor: true });
    expect((await signIn(bob, { deviceToken })).body.factorToken).toBeDefined();
    for (const wrong of ['', 'x', `${deviceToken}x`])
      expect((await signIn(anna, { deviceToken: wrong })).body.factorToken).toBeDefined();
    bed.clock.pass(30 * dayMs - 1);
    expect((await signIn(anna, { deviceToken })).body.token).toBeDefined();
    bed.clock.pass(1);
    expect((await signIn(anna, { deviceToken })).body.token).toBeUndefined();
    const next = await remembered(anna, app.nextCode());
    const newPassword = 'another good long password';
    const changed = { ...anna, password: newPassword };
    const { token } = (await signIn(anna, { deviceToken: next })).body;
    await bed.call('POST', '/auth/password', {
      identity: bed.readIdentity(token),
      body: { currentPassword: anna.password, newPassword },
    });
    expect((await signIn(changed, { deviceToken: next })).body.token).toBeUndefined();
  });

  it('is forgotten with a sign-out everywhere, by the user here or elsewhere, or by the owner', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const other = await bed.signUp();
    const { app: itsApp } = await setUpApp(bed, other);
    const itsDevice = await remembered(other, itsApp.nextCode());
    const ofOwner = `/projects/${testProject.id}/users/${person.user.id}/sessions`;
    for (const end of [
      (identity: Identity) => bed.call('DELETE', '/auth/sessions', { identity }),
      (identity: Identity) => bed.call('POST', '/auth/signout', { identity, body: { all: true } }),
      () => bed.call('DELETE', `/platform${ofOwner}`, { identity: asOwner() }),
    ]) {
      const deviceToken = await remembered(person, app.nextCode());
      const { token } = (await signIn(person, { deviceToken })).body;
      expect((await end(bed.readIdentity(token))).status).toBe(200);
      expect((await signIn(person, { deviceToken })).body.token).toBeUndefined();
    }
    expect((await signIn(other, { deviceToken: itsDevice })).body.token).toBeDefined();
    const left = await remembered(person, app.nextCode());
    const { token } = (await signIn(person, { deviceToken: left })).body;
    await bed.call('POST', '/auth/signout', { identity: bed.readIdentity(token) });
    expect((await signIn(person, { deviceToken: left })).body.token).toBeDefined();
  });

  it('is one of 20 of a user at most', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    const first = await remembered(person, app.nextCode());
    for (let n = 0; n < 20; n++) {
      bed.clock.pass(minuteMs);
      await remembered(person, app.nextCode());
    }
    expect((await signIn(person, { deviceToken: first })).body.token).toBeUndefined();
  });
});

describe('where a role takes two factors', () => {
  const strict = { ...testProject, settings: { mustUse2fa: ['user'] } };
  const addPasskey = async (identity: Identity) => {
    const { body, status } = await bed.call('POST', '/auth/passkeys/options', { identity });
    if (status !== 200) return { status, body };
    const credential = createAuthenticator().create(body);
    return bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
  };
  const inStrict = (person: Person, token = person.token) => bed.readIdentity(token, strict);

  it('a session of one sets up the first second factor, and is whole then', async () => {
    for (const setUp of [
      (identity: Identity) => setUpApp(bed, { identity }),
      (identity: Identity) => addPasskey(identity),
    ]) {
      const person = await bed.signUp();
      expect(await bed.findSession(person.sessionId)).not.toHaveProperty('hasSecondFactor');
      await setUp(inStrict(person));
      expect(await bed.findSession(person.sessionId)).toMatchObject({ hasSecondFactor: true });
    }
  });

  it('a passkey is asked for beside the password, where there is one', async () => {
    const person = await bed.signUp();
    await addPasskey(person.identity);
    expect((await signIn(person)).body.token).toBeDefined();
    expect((await signIn(person, {}, strict)).body).toEqual({
      factorToken: expect.any(String),
      factors: ['passkey'],
    });
  });

  it('a stolen password adds no factor beside one that is there', async () => {
    const person = await bed.signUp();
    await addPasskey(person.identity);
    const stolen = (await signIn(person)).body.token;
    const identity = inStrict(person, stolen);
    expect((await addPasskey(identity)).body.code).toBe('factor_first');
    expect(await bed.call('POST', '/auth/factors/totp', { identity })).toMatchObject({
      status: 403,
      body: { code: 'factor_first' },
    });
  });
});

it('what changes factors stands in the log of the account, and wrong codes do', async () => {
  const person = await bed.signUp();
  const { app } = await setUpApp(bed, person);
  await verify({ factorToken: await factorToken(person), code: '000000' });
  const [{ id }] = (await list(person)).items;
  const { identity } = person;
  await bed.call('DELETE', `/auth/factors/${id}`, { identity, body: { code: app.nextCode() } });
  const { body } = await bed.call('POST', '/auth/passkeys/options', { identity });
  const credential = createAuthenticator().create(body);
  const added = await bed.call('POST', '/auth/passkeys', {
    identity,
    body: { credential, name: 'Phone' },
  });
  await bed.call('DELETE', `/auth/passkeys/${added.body.id}`, { identity });
  const log = await bed.call('GET', '/auth/events', { identity });
  const told = log.body.items.map(({ kind, detail }: { kind: string; detail: string }) => [
    kind,
    detail,
  ]);
  expect(told).toEqual([
    ['passkey_removed', 'Phone'],
    ['passkey_added', 'Phone'],
    ['factor_removed', 'totp'],
    ['factor_added', 'totp'],
    ['signed_in', 'sign-up'],
  ]);
});

describe('the owner', () => {
  it('sees the factors of a user, and resets them: every session ends', async () => {
    const person = await bed.signUp();
    await setUpApp(bed, person);
    const path = `/platform/projects/${testProject.id}/users/${person.user.id}/factors`;
    const shown = await bed.call('GET', path, { identity: asOwner() });
    expect(shown.body).toMatchObject({
      items: [{ type: 'totp' }],
      recoveryCodesLeft: 10,
      passkeys: [],
    });
    expect((await bed.call('DELETE', path, { identity: asOperator() })).status).toBe(200);
    expect(await bed.findSession(person.sessionId)).toBeNull();
    expect((await signIn(person)).body.token).toBeDefined();
    const nobodys = `/platform/projects/${testProject.id}/users/x/factors`;
    for (const method of ['GET', 'DELETE'])
      expect((await bed.call(method, nobodys, { identity: asOwner() })).status).toBe(404);
  });
});
