import { until } from '@backlot/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '../ai-calls.ts';
import { freeze } from '../freeze.ts';
import { isWhole, type Shop, type StackUnderTest } from '../stack-under-test.ts';

/** The contract's 6 and 5 seconds, times what a machine may be busy; 40 s would pass without a look. */
const patience = { timeoutMs: 25_000 };

const password = 'a good long password';

export const describeFreezes = (getStack: () => StackUnderTest) =>
  describe('while a server is frozen', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });

    const names = async (gateway: string, server: string) => {
      const answer = await fetch(`${gateway}/readyz`);
      const { missing = [], degraded = [] } = (await answer.json()) as Record<string, string[]>;
      return [...missing, ...degraded].includes(server);
    };

    const whileFrozen = async (
      server: 'redis' | 'rabbitmq' | 'postgresql',
      work: () => unknown,
    ) => {
      const thaw = await freeze(stack.folders[server]);
      try {
        await Promise.all(
          stack.gateways.map((gateway) =>
            until(() => names(gateway, server), {
              ...patience,
              what: `${gateway} names ${server}`,
            }),
          ),
        );
        const { body } = await stack.control('GET', '/health', { token: stack.operatorToken });
        const found = body.dependencies.find(({ name }: { name: string }) => name === server);
        expect(found).toMatchObject({ affects: expect.any(String), since: expect.any(String) });
        await work();
      } finally {
        thaw();
      }
      for (const gateway of stack.gateways)
        await until(() => isWhole(gateway), { ...patience, what: `${gateway} after ${server}` });
      const shop = await stack.newShop(1);
      await until(async () => (await ask(stack.gateways[1], shop.id, 'Hello')).kind === 'served', {
        what: 'a priced call',
      });
    };

    const signUp = async (shop: Shop) => {
      const body = { email: 'user@example.org', password };
      const { status, body: user } = await stack.runtime(0, shop.id)('POST', '/auth/signup', {
        body,
      });
      expect(status).toBe(201);
      return user.token as string;
    };

    /** Whatever is away, a caller is told something that the contract names. */
    const everyCallIsAnswered = async (shop: Shop, token: string) => {
      const calls = stack.gateways.flatMap((gateway, n) => {
        const call = stack.runtime(n, shop.id);
        return [
          call('GET', '/db/notes', { token }),
          call('POST', '/db/notes', { token, body: { data: { title: 'a' } } }),
          call('GET', '/auth/me', { token }),
          call('POST', '/auth/signin', { body: { email: 'user@example.org', password } }),
          ask(gateway, shop.id, 'Hello').then(({ kind, ...rest }) => ({
            status: kind === 'served' ? 200 : 'status' in rest ? rest.status : 0,
          })),
        ];
      });
      for (const { status } of await Promise.all(calls)) expect([200, 201, 503]).toContain(status);
    };

    const signOutIsHonoured = async (shop: Shop, token: string) => {
      expect((await stack.runtime(0, shop.id)('POST', '/auth/signout', { token })).status).toBe(
        200,
      );
      for (const n of [0, 1])
        await until(
          async () =>
            (await stack.runtime(n, shop.id)('GET', '/auth/me', { token })).status === 401,
          { ...patience, what: `gateway ${n} refuses the session` },
        );
    };

    it.each(['redis', 'rabbitmq'] as const)(
      '%s: it is named, every call is answered, and a sign-out holds',
      async (server) => {
        const shop = await stack.newShop(10);
        const token = await signUp(shop);
        await whileFrozen(server, async () => {
          await everyCallIsAnswered(shop, token);
          await signOutIsHonoured(shop, token);
        });
      },
    );

    it('postgresql: it is named, every call is answered, and nothing is said to be done', async () => {
      const shop = await stack.newShop(10);
      const token = await signUp(shop);
      await whileFrozen('postgresql', async () => {
        await everyCallIsAnswered(shop, token);
        const call = stack.runtime(0, shop.id);
        expect((await call('POST', '/auth/signout', { token })).status).toBe(503);
        expect((await call('POST', '/db/notes', { token, body: { data: {} } })).status).toBe(503);
      });
      await signOutIsHonoured(shop, token);
    });
  });
