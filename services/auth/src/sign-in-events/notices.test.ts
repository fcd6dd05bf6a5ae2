import { anonymous, asOwner, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, type NewPerson, type TestBed } from '../testing/test-bed.ts';

const chrome = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36';
const firefox = 'Mozilla/5.0 (Windows NT 10.0; rv:133.0) Gecko/20100101 Firefox/133.0';

describe('a mail', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const verified = async (person?: NewPerson) => {
    const signedUp = await bed.signUp(person);
    await bed.call('PATCH', `/platform/projects/testproject/users/${signedUp.user.id}`, {
      identity: asOwner(),
      body: { emailVerified: true },
    });
    await bed.takeEvents();
    return signedUp;
  };
  const signIn = async (
    { email, password }: { email: string; password: string },
    { ip = '192.0.2.1', userAgent = chrome } = {},
  ) => {
    const body = { email, password };
    const identity = anonymous({ ip, userAgent });
    const { status, body: answer } = await bed.call('POST', '/auth/signin', { identity, body });
    expect(status).toBe(200);
    return { ...bed.readIdentity(answer.token), ip, userAgent };
  };
  const told = () => bed.take('notice.requested');

  it('tells of a sign-in from another browser or place, once', async () => {
    const person = await verified();
    // The sign-up named no browser.
    await signIn(person);
    expect(await told()).toMatchObject([
      {
        to: person.email,
        kind: 'new-device',
        device: 'Chrome on Windows',
        network: '192.0.2.0/24',
        projectId: 'testproject',
      },
    ]);
    await signIn(person, { ip: '192.0.77.9' });
    expect(await told()).toEqual([]);
    await signIn(person, { userAgent: firefox });
    await signIn(person, { ip: '198.51.100.1' });
    expect(await told()).toMatchObject([
      { device: 'Firefox on Windows' },
      { device: 'Chrome on Windows', network: '198.51.100.0/24' },
    ]);
    await signIn(person, { userAgent: firefox });
    await signIn(person, { ip: '198.51.100.1' });
    expect(await told()).toEqual([]);
  });

  it('tells nobody of the first sign-in, nor whose address is not verified', async () => {
    const person = await verified();
    await bed.database.query('DELETE FROM known_devices WHERE user_id = $1', [person.user.id]);
    await signIn(person);
    const unverified = await bed.signUp();
    await signIn(unverified, { ip: '198.51.100.1' });
    expect(await told()).toEqual([]);
  });

  it('tells of one device once, of many sign-ins at once', async () => {
    const person = await verified();
    await Promise.all(Array.from({ length: 8 }, () => signIn(person)));
    expect(await told()).toHaveLength(1);
  });

  it('tells of a changed password, and of none that was not', async () => {
    const { email, password, identity } = await verified();
    const change = (currentPassword: string) =>
      bed.call('POST', '/auth/password', {
        identity,
        body: { currentPassword, newPassword: 'another good password' },
      });
    expect((await change('wrong')).status).toBe(401);
    expect(await told()).toEqual([]);
    expect((await change(password)).status).toBe(200);
    expect(await told()).toMatchObject([{ to: email, kind: 'password-changed', detail: null }]);
    await bed.call('POST', '/auth/forgot', { body: { email } });
    const body = { token: await bed.mailedToken(), password: 'a third good password' };
    expect((await bed.call('POST', '/auth/reset', { body })).status).toBe(200);
    expect(await told()).toMatchObject([{ kind: 'password-changed', detail: 'mailed link' }]);
  });

  it('keeps no more than 20 devices of a user, and none for more than a year', async () => {
    const person = await verified();
    for (let n = 0; n < 25; n++) {
      bed.clock.pass(1000);
      await signIn(person, { ip: `10.${n}.0.1` });
    }
    const count = async () =>
      (await bed.database.query('SELECT FROM known_devices WHERE user_id = $1', [person.user.id]))
        .length;
    expect(await count()).toBe(20);
    bed.clock.pass(366 * dayMs);
    const process = bed.another();
    await process.start();
    await until(async () => (await count()) === 0);
    await process.stop();
  });
});
