import { describe, expect, it } from '@jest/globals';
import { clientWith, json } from '../testing/recorded-client.ts';
import { createTokenStorage } from './auth.ts';

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
  expect(heard).toEqual([null, { id }, null]);
});

describe('onChange', () => {
  const present = json({ user: { id } });
  const listen = ({ client }: Pick<ReturnType<typeof clientWith>, 'client'>) => {
    const heard: unknown[] = [];
    let end = () => {};
    const first = new Promise<void>((resolve) => {
      end = client.auth.onChange((user) => {
        heard.push(user);
        resolve();
      });
    });
    return { heard, first, end };
  };
  /** A page with a kept token whose question for the user is answered when the test says so. */
  const slowPage = async () => {
    let answer = () => {};
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const late = () =>
      new Promise<Response>((resolve) => {
        answer = () => resolve(present());
        isAsked();
      });
    const { client } = clientWith(
      [late, json({ token: 'new', user: { id: 'new' } }), json({ user: { id: 'new' } })],
      { token: 'kept' },
    );
    const { heard, end } = listen({ client });
    await asked;
    return { client, answer, heard, end };
  };

  it('tells at once who is signed in by the token that was kept', async () => {
    const page = clientWith([present], { token: 'kept' });
    const { heard, first } = listen(page);
    await first;
    expect(heard).toEqual([{ id }]);
    expect(page.sent.map(({ path }) => path)).toEqual(['/auth/me']);
  });

  it('tells once of nobody, without a call where no token is kept', async () => {
    const over = clientWith([json({ code: 'invalid_token' }, 401)], { token: 'over' });
    const none = clientWith([]);
    for (const page of [over, none]) {
      const { heard, first } = listen(page);
      await first;
      await page.client.auth.me();
      expect(heard).toEqual([null]);
    }
    expect(none.sent).toEqual([]);
  });

  it('does not tell of the kept session after a newer one', async () => {
    const { client, answer, heard } = await slowPage();
    await client.auth.signIn(account);
    answer();
    await client.auth.me();
    expect(heard).toEqual([{ id: 'new' }]);
  });

  it('tells nobody who has stopped listening', async () => {
    const { client, answer, heard, end } = await slowPage();
    end();
    answer();
    await client.auth.me();
    expect(heard).toEqual([]);
  });

  it('shows why it can not tell', async () => {
    const { warn } = console;
    try {
      const page = clientWith([json({ error: 'The server is away.' }, 500)], { token: 'kept' });
      const shown = new Promise((resolve) => {
        console.warn = resolve;
      });
      const { heard } = listen(page);
      expect([await shown, heard]).toEqual(['Backlot: auth.onChange: The server is away.', []]);
    } finally {
      console.warn = warn;
    }
  });
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
