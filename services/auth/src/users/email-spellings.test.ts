import { anonymous, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, goodPassword, type TestBed } from '../testing/test-bed.ts';

const spellings = ['z@xn--bcher-kva.example', 'z@bücher.example', ' Z@BÜCHER.example '];
const [email] = spellings;

describe('an address in several spellings', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.signUp({ email: 'z@bücher.example' });
  });
  afterAll(() => bed.close());

  const post = (path: string, body: object, identity = anonymous()) =>
    bed.call('POST', path, { identity, body });

  it('is one account, whichever signs up, in, or asks for a new password', async () => {
    await bed.takeEvents();
    for (const spelling of spellings) {
      const signUp = { email: spelling, password: goodPassword };
      expect((await post('/auth/signup', signUp)).body.code).toBe('email_taken');
      const { status, body } = await bed.signIn({ email: spelling, password: goodPassword });
      expect([status, body.user?.email]).toEqual([200, email]);
      await post('/auth/forgot', { email: spelling });
      expect(await bed.take('mail.requested')).toMatchObject([{ to: email }]);
    }
  });

  it('is no other one for a change', async () => {
    const { identity } = await bed.signUp({ email: 'x@xn--bcher-kva.example' });
    const change = { email: 'x@bücher.example', password: goodPassword };
    expect(await post('/auth/change-email', change, identity)).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
  });

  it('counts failed sign-ins together', async () => {
    const person = await bed.signUp({ email: 'y@bücher.example', ip: '198.51.100.9' });
    const tries = [
      'y@bücher.example',
      'y@xn--bcher-kva.example',
      'Y@Bücher.example',
      'y@BÜCHER.example',
    ];
    const answers = [];
    for (let n = 0; n < 12; n++)
      answers.push(
        await bed.signIn({ email: String(tries[n % 4]), password: 'wrong' }, `192.0.2.${n + 50}`),
      );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(person.user.email).toBe('y@xn--bcher-kva.example');
  });

  it('is one invitation, and one verified user of whoever asks', async () => {
    const { identity } = await bed.signUp();
    const group = await post('/groups', { name: 'Red team' }, identity);
    const path = `/groups/${group.body.id}/invites`;
    for (const spelling of spellings) await post(path, { email: spelling }, identity);
    const { body } = await bed.call('GET', path, { identity });
    expect(body.items).toMatchObject([{ email }]);

    await bed.signUp({ email: 'v@bücher.example' });
    await post('/auth/verify', { token: await bed.mailedToken() });
    const { accounts } = bed.service.directories;
    expect(await accounts.registered(testProject.number, ['V@bücher.example'])).toEqual([
      'v@xn--bcher-kva.example',
    ]);
  });

  it('is no password either', async () => {
    const body = { email: 'long-name@bücher.example', password: 'long-name@bücher.example' };
    expect((await post('/auth/signup', body)).body.code).toBe('password_too_weak');
  });
});
