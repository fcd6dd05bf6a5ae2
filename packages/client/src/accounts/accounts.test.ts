import { expect, it } from '@jest/globals';
import { laterCalls } from '../calls/auth.ts';
import { clientWith, json } from '../testing/recorded-client.ts';
import type { Transport } from '../transport.ts';
import { createAccounts } from './accounts.ts';

const user = { id: '018f0000-0000-7000-8000-0000000000aa' };
const waiting = json({ factorToken: 'waiting', factors: ['totp'] });

it('has each call that the client names before it is loaded', () => {
  const transport = {
    url: () => 'https://api.example.org/api/runtime/demo',
  } as unknown as Transport;
  const kit = {
    transport,
    keep: async () => user,
    waiting: () => ({ factorToken: '' }),
    rememberDevice: async () => {},
  };
  expect(Object.keys(createAccounts(kit as never)).sort()).toEqual(laterCalls.split(' ').sort());
});

it('asks for the second factor, and signs in with its code', async () => {
  const { client, sent, token } = clientWith([waiting, json({ token: 'one', user })]);
  const refused = client.auth.signIn({ email: 'a@example.org', password: 'x' });
  await expect(refused).rejects.toMatchObject({ code: 'factor_required' });
  expect(token()).toBeNull();
  expect(await client.auth.verifyFactor('123456')).toEqual(user);
  expect(token()).toBe('one');
  expect(sent[1]).toMatchObject({
    path: '/auth/factors/verify',
    body: { factorToken: 'waiting', code: '123456', remember: false },
  });
});

it('merges a guest by the second factor where the first one was to, and by no other', async () => {
  const account = { email: 'a@example.org', password: 'x' };
  const answers = [waiting, json({ token: 'one', user }), waiting, json({ token: 'two', user })];
  const { client, sent } = clientWith(answers);
  await client.auth.signIn({ ...account, merge: true }).catch(() => {});
  await client.auth.verifyFactor('123456');
  await client.auth.signIn(account).catch(() => {});
  await client.auth.verifyFactor('123456');
  expect(sent.map(({ body }) => (body as { merge?: boolean }).merge)).toEqual([
    true,
    true,
    undefined,
    undefined,
  ]);
});

it('is asked for no second factor on a device that is remembered', async () => {
  const { client, sent } = clientWith([
    waiting,
    json({ token: 'one', user, deviceToken: 'device' }),
    json({ token: 'two', user }),
  ]);
  const account = { email: 'a@example.org', password: 'x' };
  await client.auth.signIn(account).catch(() => {});
  await client.auth.verifyFactor('123456', true);
  await client.auth.signIn(account);
  expect(sent[2]?.body).toEqual({ ...account, deviceToken: 'device' });
});

it('has no way to a provider outside of pages', async () => {
  const { client, sent } = clientWith([]);
  await expect(client.auth.signInWith('google')).rejects.toMatchObject({ code: 'no_page' });
  await expect(client.auth.openSignIn()).rejects.toMatchObject({ code: 'no_page' });
  expect(await client.auth.finishSignIn()).toBeNull();
  await expect(client.auth.signInWithPasskey()).rejects.toMatchObject({
    code: 'no_passkeys',
  });
  expect(sent).toEqual([]);
});
