import { until } from '@backlot/testing';
import type { Answer } from '@backlot/testing/platform-api';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askPatiently, tally } from '../ai-calls.ts';
import { untilDrained } from '../broker.ts';
import { readBooks } from '../ledger.ts';
import { limitReads } from '../limits.ts';
import { changeRedisPassword } from '../redis-password.ts';
import { refuseRole } from '../refuse-role.ts';
import { isWhole, type Shop, type StackUnderTest } from '../stack-under-test.ts';

/** The contract's 5 seconds, times what a machine may be busy; without events a minute would pass. */
const effectMs = 25_000;

export const describeOutages = (getStack: () => StackUnderTest) =>
  describe('while a server is away', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });
    afterEach(async () => {
      for (const url of stack.gateways) await until(() => isWhole(url), { what: url });
    });

    const degraded = async (gateway: string) => {
      const answer = await fetch(`${gateway}/readyz`);
      const { degraded: what = [] } = (await answer.json()) as { degraded?: string[] };
      return [answer.status, what.join()];
    };
    const allSay = (what: string) =>
      until(
        async () => {
          const said = await Promise.all(stack.gateways.map(degraded));
          return said.every(([status, services]) => status === 200 && services === what);
        },
        { what },
      );

    /** Nothing has changed where the stack was short of time. */
    const persist = async (call: () => Promise<Answer>): Promise<Answer> => {
      for (;;) {
        const answer = await call();
        if (answer.status !== 503) return answer;
      }
    };

    /** What a call on each gateway is answered with, before a change and in time after it. */
    const changes = async (
      call: (gateway: number) => Promise<Answer>,
      before: number,
      change: () => Promise<Answer>,
      after: number,
    ) => {
      for (const n of [0, 1])
        expect(await persist(() => call(n))).toMatchObject({ status: before });
      expect((await persist(change)).status).toBe(200);
      const both = async () => {
        const answers = await Promise.all([call(0), call(1)]);
        return answers.every(({ status }) => status === after);
      };
      await until(both, { timeoutMs: effectMs, what: `${after} on both gateways` });
    };

    const revocations = async (shop: Shop) => {
      const { control, runtime } = stack;
      const { token } = shop.owner;
      const path = `/projects/${shop.id}`;

      const key = await persist(() =>
        control('POST', `${path}/keys`, { token, body: { name: 'k' } }),
      );
      await changes(
        (n) => runtime(n, shop.id)('GET', '/db/notes', { token: key.body.key }),
        200,
        () => control('DELETE', `${path}/keys/${key.body.id}`, { token }),
        401,
      );

      const body = { email: 'user@example.org', password: 'a good long password' };
      const user = await persist(() => runtime(0, shop.id)('POST', '/auth/signup', { body }));
      await changes(
        (n) => runtime(n, shop.id)('GET', '/auth/me', { token: user.body.token }),
        200,
        () => runtime(0, shop.id)('POST', '/auth/signout', { token: user.body.token }),
        401,
      );

      await changes(
        (n) => runtime(n, shop.id)('GET', '/db/notes'),
        200,
        () => control('PATCH', path, { token, body: { status: 'paused' } }),
        403,
      );
    };

    it('a revoked key, an ended session and a paused project are noticed in time', async () => {
      await revocations(await stack.newShop(1));
    });

    it('they are with RabbitMQ away, of which the gateways tell', async () => {
      const shop = await stack.newShop(1);
      await stack.victims.rabbitmq.kill();
      await allSay('rabbitmq');
      await revocations(shop);
      await stack.victims.rabbitmq.restart();
    });

    it('calls succeed with RabbitMQ away, and are booked once when it is back', async () => {
      const shop = await stack.newShop(100);
      await stack.victims.rabbitmq.kill();
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          askPatiently(stack.gateways[n % 2] ?? '', shop.id, 'Hello'),
        ),
      );
      expect(tally(outcomes)).toEqual({ served: 60 });
      expect(await readBooks(stack, shop.owner)).toMatchObject({
        balanceMillicredits: 100_000,
        reservedMillicredits: 60_000,
        debits: [],
      });
      await stack.victims.rabbitmq.restart();
      await until(async () => (await readBooks(stack, shop.owner)).debits.length === 60);
      await untilDrained(stack);
      const { debits, ...books } = await readBooks(stack, shop.owner);
      expect(books).toMatchObject({ balanceMillicredits: 40_000, reservedMillicredits: 0 });
      expect(new Set(debits.map(({ requestId }) => requestId)).size).toBe(60);
      expect(debits).toHaveLength(60);
    });

    it('limits are held locally with Redis away, and priced calls are told to come again', async () => {
      const shop = await stack.newShop(100);
      await limitReads(stack, shop, 5);
      await stack.victims.redis.kill();
      const statuses = async (gateway: number) => {
        const reads = Array.from({ length: 20 }, () =>
          stack.runtime(gateway, shop.id)('GET', '/db/notes', { token: shop.key }),
        );
        return (await Promise.all(reads)).map(({ status }) => status);
      };
      for (const gateway of [0, 1]) {
        const answered = await statuses(gateway);
        expect(answered.filter((status) => status === 200)).toHaveLength(5);
        expect(answered.filter((status) => status === 429)).toHaveLength(15);
        expect(await ask(stack.gateways[gateway] ?? '', shop.id, 'Hello')).toEqual({
          kind: 'refused',
          status: 503,
          code: 'unavailable',
          retryAfter: expect.stringMatching(/^[1-9]\d*$/),
        });
      }
      await allSay('redis');

      await stack.victims.redis.restart();
      for (const gateway of stack.gateways) {
        await until(async () => (await ask(gateway, shop.id, 'Hello')).kind === 'served', {
          what: 'a priced call',
        });
      }
    });

    it('a Redis that refuses the password is an outage whose password nobody writes down', async () => {
      const { redisUrl } = stack;
      const shop = await stack.newShop(1);
      const changed = await changeRedisPassword(redisUrl, 'another-password-of-the-test');
      try {
        for (const [n, gateway] of stack.gateways.entries()) {
          await until(async () => {
            await stack.runtime(n, shop.id)('GET', '/db/notes', { token: shop.key });
            return (await degraded(gateway))[1] === 'redis';
          });
          // What is asked before Redis is reached anew is told that it is away.
          const refused = await until(async () => {
            const answer = await ask(gateway, shop.id, 'Hello');
            return 'code' in answer && answer.code === 'access_refused' && answer;
          });
          expect(refused.status).toBe(503);
        }
      } finally {
        await changeRedisPassword(changed, new URL(redisUrl).password);
      }
      for (const url of stack.gateways) await until(() => isWhole(url), { what: url });
    });

    it('a PostgreSQL that refuses one service is named, the others go on, and it serves once that is put right', async () => {
      const shop = await stack.newShop(1);
      const list = (n: number) =>
        stack.runtime(n, shop.id)('GET', '/db/notes', { token: shop.key });
      const putRight = await refuseRole(stack.databaseUrl, 'records');
      try {
        for (const n of [0, 1]) {
          const isRefused = async () => (await list(n)).body.code === 'access_refused';
          await until(isRefused, { what: 'access_refused' });
        }
        for (const gateway of stack.gateways) {
          const missing = await until(async () => {
            const readiness = await fetch(`${gateway}/readyz`);
            return (
              readiness.status === 503 &&
              ((await readiness.json()) as { missing: string[] }).missing
            );
          });
          expect(missing).toEqual(expect.arrayContaining(['records', 'postgresql']));
        }
        const { body: health } = await stack.control('GET', '/health', {
          token: stack.operatorToken,
        });
        expect(health.dependencies).toContainEqual(
          expect.objectContaining({
            name: 'postgresql',
            reason: 'refuses_role',
            seenBy: ['records'],
          }),
        );
        const me = await stack.control('GET', '/projects', { token: shop.owner.token });
        expect(me.status).toBe(200);
      } finally {
        await putRight();
      }
      for (const n of [0, 1]) await until(async () => (await list(n)).status === 200);
    });
  });
