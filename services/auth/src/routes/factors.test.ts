import { authRoutes } from '@backlot/contract';
import { anonymous, asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { createAuthenticatorApp, setUpApp } from '../testing/authenticator-app.ts';
import { createFactorCalls } from '../testing/factor-calls.ts';
import { createTestBed, minuteMs, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { factorToken, freshIp, list, signIn, verify } = createFactorCalls(() => bed);
const times = <T>(n: number, work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, turn) => work(turn)));

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
