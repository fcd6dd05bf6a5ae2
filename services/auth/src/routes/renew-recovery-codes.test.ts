import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const path = '/auth/factors/recovery-codes';
refusesStrangers(
  authRoutes.renewRecoveryCodes,
  () => bed.http,
  () => ({ path, body: { code: '123456' } }),
);

let address = 0;
const renew = ({ identity }: Pick<Person, 'identity'>, code: unknown) =>
  bed.call('POST', path, {
    identity: { ...identity, ip: `203.0.113.${++address}` },
    body: { code },
  });
const opens = async (person: Person, code: string | undefined) => {
  const { factorToken } = (await bed.signIn(person, `198.51.100.${++address}`)).body;
  const { status } = await bed.call('POST', '/auth/factors/verify', {
    identity: anonymous({ ip: `198.51.100.${++address}` }),
    body: { factorToken, code },
  });
  return status === 200;
};

describe('recovery codes', () => {
  it('are renewed for a code of the app: ten new ones are good, the old ones no more', async () => {
    const person = await bed.signUp();
    const { app, recoveryCodes: old } = await setUpApp(bed, person);
    expect((await renew(person, '000000')).status).toBe(401);
    expect(await opens(person, old[0])).toBe(true);
    const { status, body } = await renew(person, app.nextCode());
    expect([status, new Set(body.recoveryCodes).size]).toEqual([200, 10]);
    expect(await opens(person, old[1])).toBe(false);
    expect(await opens(person, body.recoveryCodes[1])).toBe(true);
    const list = await bed.call('GET', '/auth/factors', { identity: person.identity });
    expect(list.body.recoveryCodesLeft).toBe(9);
    const events = await bed.call('GET', '/auth/events', { identity: person.identity });
    const kinds = events.body.items.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toContain('recovery_codes_renewed');
  });

  it('or for one of themselves, which is good once, of many calls at the same time too', async () => {
    const person = await bed.signUp();
    const { recoveryCodes } = await setUpApp(bed, person);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => renew(person, recoveryCodes[0])),
    );
    const [done, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(await opens(person, done?.body.recoveryCodes[9])).toBe(true);
  });

  it('are told of by mail to a verified address', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    await bed.database.query('UPDATE users SET email_verified = true WHERE id = $1', [
      person.user.id,
    ]);
    await bed.take('notice.requested');
    await renew(person, app.nextCode());
    expect(await bed.take('notice.requested')).toMatchObject([
      { to: person.email, kind: 'factor-added', detail: 'recovery codes' },
    ]);
  });

  it('belong to an app: without one, and with another’s code, there are none', async () => {
    const [person, other] = [await bed.signUp(), await bed.signUp()];
    const { app } = await setUpApp(bed, other);
    expect((await renew(person, app.nextCode())).body.code).toBe('conflict');
    await bed.call('POST', '/auth/factors/totp', { identity: person.identity });
    expect((await renew(person, app.nextCode())).body.code).toBe('conflict');
    await setUpApp(bed, await bed.signUp());
    expect((await renew(other, '000000')).status).toBe(401);
    for (const wrong of [1, null, '', 'x'.repeat(41)])
      expect((await renew(other, wrong)).status).toBe(400);
  });

  it('take 5 guesses in 15 minutes, with those at sign-in', async () => {
    const person = await bed.signUp();
    const { app } = await setUpApp(bed, person);
    for (let n = 0; n < 5; n++) expect((await renew(person, '000000')).status).toBe(401);
    expect((await renew(person, app.nextCode())).status).toBe(429);
  });
});
