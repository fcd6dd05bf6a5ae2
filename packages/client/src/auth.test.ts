import { expect, it } from '@jest/globals';
import { createTokenStorage } from './auth.ts';
import { clientWith, json } from './testing/recorded-client.ts';

const id = '018f0000-0000-7000-8000-0000000000aa';
const account = { email: 'ada@example.org', password: 'a good long password' };

it('keeps the token, sends it, and forgets it', async () => {
  const { client, sent, token } = clientWith([
    json({ token: 'one', user: { id } }),
    json({ user: { id } }),
    json({ code: 'invalid_token' }, 401),
  ]);
  const heard: unknown[] = [];
  const end = client.auth.onChange((user) => heard.push(user));
  expect(await client.auth.me()).toBeNull();
  expect(await client.auth.signIn(account)).toEqual({ id });
  expect(await client.auth.me()).toEqual({ id });
  expect(sent.map(({ headers }) => headers.Authorization)).toEqual([undefined, 'Bearer one']);
  expect(token()).toBe('one');
  // The session was ended elsewhere.
  expect(await client.auth.me()).toBeNull();
  expect(token()).toBeNull();
  end();
  await client.auth.signOut().catch(() => {});
  expect(heard).toEqual([{ id }, null]);
});

it('renews a token of which half is over, once for all calls', async () => {
  const tokenUntil = (iat: number, exp: number) => `h.${btoa(JSON.stringify({ iat, exp }))}.s`;
  const now = Date.now() / 1000;
  const old = tokenUntil(now - 100, now + 10);
  const renewed = tokenUntil(now, now + 100);
  const { client, sent, token } = clientWith([
    json({ token: old, user: {} }),
    json({ token: renewed, user: {} }),
    json({ id }),
  ]);
  await client.auth.signIn(account);
  await Promise.all([client.db('todos').get(id), client.db('todos').get(id)]);
  expect(sent.map(({ path }) => path)).toEqual([
    '/auth/signin',
    '/auth/refresh',
    `/db/todos/${id}`,
    `/db/todos/${id}`,
  ]);
  expect(sent[2]?.headers.Authorization).toBe(`Bearer ${renewed}`);
  expect(token()).toBe(renewed);
});

it('keeps the token in memory outside of pages, where Node warns of localStorage', async () => {
  const looks: string[] = [];
  const own = Object.getOwnPropertyDescriptor(globalThis, 'localStorage') ?? {};
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    get: () => void looks.push('looked'),
  });
  try {
    const storage = createTokenStorage('token');
    await storage.set('one');
    expect(await storage.get()).toBe('one');
    await storage.set(null);
    expect(await storage.get()).toBeNull();
  } finally {
    Object.defineProperty(globalThis, 'localStorage', { configurable: true, ...own });
  }
  expect(looks).toEqual([]);
});
