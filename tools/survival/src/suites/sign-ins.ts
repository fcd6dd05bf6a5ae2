import { createHash, randomBytes } from 'node:crypto';
import { until } from '@backlot/testing';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Shop, StackUnderTest } from '../stack-under-test.ts';

const parallel = 20;

export const describeSignIns = (getStack: () => StackUnderTest) =>
  describe('accounts are killed while somebody comes back from a provider', () => {
    let stack: StackUnderTest;
    let provider: TestOpenIdProvider;
    let shop: Shop;
    beforeAll(async () => {
      stack = getStack();
      provider = await createTestOpenIdProvider();
      shop = await stack.newShop(10);
      const { issuer, clientId, clientSecret } = provider;
      const set = await apiAt(`${stack.gateways[0]}/api/platform/projects/${shop.id}`)(
        'PUT',
        '/auth-providers/local',
        { token: shop.owner.token, body: { issuer, clientId, clientSecret } },
      );
      expect([set.status, set.body.error]).toEqual([200, undefined]);
      provider.redirectUris.add(set.body.callbackUrl);
    });
    afterAll(() => provider.stop());

    const visit = async (url: string) => {
      const answer = await fetch(url, { redirect: 'manual' });
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
      return location;
    };

    /** To the provider and back to the app, which has not asked for the token yet. */
    const travel = async (subject: string) => {
      provider.people.set(subject, { email: `${subject}@example.org`, email_verified: true });
      provider.signsInAs = subject;
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        returnTo: 'http://localhost:3000/',
        challenge: createHash('sha256').update(verifier).digest('base64url'),
      });
      const base = `${stack.gateways[0]}/api/runtime/${shop.id}`;
      const back = await provider.follow(await visit(`${base}/auth/oauth/local?${query}`));
      const landing = new URL(await visit(`${stack.gateways[0]}${back.pathname}${back.search}`));
      return { code: String(landing.searchParams.get('code')), verifier };
    };

    const exchange = (body: object) =>
      stack
        .runtime(0, shop.id)('POST', '/auth/oauth/token', { body })
        .catch(() => ({ status: 0, body: {} as Record<string, unknown> }));

    it('and the code is good once they are back', async () => {
      const body = await travel('between');
      await stack.victims.auth.kill();
      await stack.victims.auth.restart();
      let answer = await exchange(body);
      await until(async () => {
        if ([0, 502, 503].includes(answer.status)) answer = await exchange(body);
        return ![0, 502, 503].includes(answer.status);
      });
      expect(answer).toMatchObject({ status: 200, body: { isNew: true } });
      expect((await exchange(body)).body.code).toBe('invalid_link');
    }, 120_000);

    it('in the middle of many calls with one code, and one account and session is made of it at most', async () => {
      const body = await travel('middle');
      const calls = Promise.all(Array.from({ length: parallel }, () => exchange(body)));
      await stack.victims.auth.kill();
      await stack.victims.auth.restart();
      const answers = await calls;
      let last = await exchange(body);
      await until(async () => {
        if ([0, 502, 503].includes(last.status)) last = await exchange(body);
        return ![0, 502, 503].includes(last.status);
      });
      const succeeded = [...answers, last].filter(({ status }) => status === 200);
      expect(succeeded.length).toBeLessThanOrEqual(1);
      const again = await exchange(await travel('middle'));
      expect(again).toMatchObject({ status: 200 });
      const users = await apiAt(`${stack.gateways[0]}/api/platform/projects/${shop.id}`)(
        'GET',
        '/users?q=middle',
        { token: shop.owner.token },
      );
      expect(users.body.items).toHaveLength(1);
    }, 120_000);
  });
