import { authRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  dayMs,
  hourMs,
  otherProject,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

describe('verifyEmail', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.verifyEmail,
    () => bed.http,
    () => ({ path: '/auth/verify', body: { token: 'x' } }),
  );

  const verify = (token: unknown, identity = anonymous()) =>
    bed.call('POST', '/auth/verify', { identity, body: { token } });
  const invalid = { status: 400, body: { code: 'invalid_link' } };

  it('counts the address as verified, once, even when called in parallel', async () => {
    const { identity } = await bed.signUp();
    const token = await bed.mailedToken();
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(token, identity)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'invalid_link')).toHaveLength(7);
    const me = await bed.call('GET', '/auth/me', { identity });
    expect(me.body.user.emailVerified).toBe(true);
  });

  it('tells the other services whose address it is, and of an owner that they are verified', async () => {
    const { user: verified, identity } = await bed.signUp();
    await verify(await bed.mailedToken(), identity);
    const { id: userId, email } = verified;
    expect(await bed.takeEvents()).toEqual([
      { topic: 'user.verified', payload: { projectNumber: testProject.number, userId, email } },
      told('user.verified', userId),
    ]);
    const { user, ...owner } = await bed.signUp({ project: platform });
    const { accounts } = bed.service.directories;
    expect(await accounts.findAccount(platform.number, user.id)).toMatchObject({
      emailVerified: false,
    });
    await verify(await bed.mailedToken(), owner.identity);
    expect(await bed.takeEvents()).toEqual([
      { topic: 'owner.verified', payload: { ownerId: user.id } },
    ]);
    expect(await accounts.findAccount(platform.number, user.id)).toMatchObject({
      emailVerified: true,
    });
  });

  it('refuses an outdated and a made-up token, and one of another project', async () => {
    await bed.signUp();
    const token = await bed.mailedToken();
    expect(await verify(token, anonymous({ project: otherProject }))).toMatchObject(invalid);
    expect(await verify('made up')).toMatchObject(invalid);
    bed.clock.pass(dayMs);
    expect(await verify(token)).toMatchObject(invalid);
  });

  it.each([[undefined], [''], ['x'.repeat(129)], [7], [{}]])(
    'refuses the token %j',
    async (token) => {
      const answer = await verify(token);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain('"token"');
    },
  );
});

describe('resendVerification', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.resendVerification,
    () => bed.http,
    () => ({ path: '/auth/verify/resend' }),
  );

  const resend = (identity: Identity) => bed.call('POST', '/auth/verify/resend', { identity });
  const verify = (token: string, identity: Identity) =>
    bed.call('POST', '/auth/verify', { identity, body: { token } });

  it('mails a new link, which ends the one before, until the address is confirmed', async () => {
    const { identity, email } = await bed.signUp({ name: 'Ada' });
    const first = await bed.mailedToken();
    expect(await resend(identity)).toMatchObject({ status: 200, body: { ok: true } });
    const [mail] = await bed.take('mail.requested');
    expect(mail).toMatchObject({ to: email, name: null, template: 'verify-email' });
    expect((await verify(first, identity)).body.code).toBe('invalid_link');
    expect((await verify(String(mail?.token), identity)).status).toBe(200);
    await bed.takeEvents();
    expect(await resend(identity)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('mails one account five times an hour, at once too', async () => {
    const { identity } = await bed.signUp();
    await bed.takeEvents();
    const answers = await Promise.all(Array.from({ length: 8 }, () => resend(identity)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_attempts' } });
    expect(await bed.take('mail.requested')).toHaveLength(5);
    bed.clock.pass(hourMs);
    expect((await resend(identity)).status).toBe(200);
  });
});
