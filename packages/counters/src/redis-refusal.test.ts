import { createTestRedis, type TestRedis, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { connectRedis, createRedisCounters, findRedis } from './redis.ts';

describe('a Redis that refuses the password', () => {
  let testRedis: TestRedis;
  let operator: Redis;
  let user: string;
  beforeAll(async () => {
    testRedis = await createTestRedis();
    operator = new Redis(testRedis.url);
    user = `refused-${new URL(testRedis.url).pathname.slice(1)}`;
  });
  afterAll(async () => {
    await operator.call('ACL', 'DELUSER', user);
    operator.disconnect();
    await testRedis.drop();
  });
  const setPassword = (password: string) =>
    operator.call('ACL', 'SETUSER', user, 'on', 'resetpass', `>${password}`, '~*', '+@all');
  const connect = () => {
    const told: boolean[] = [];
    const address = Object.assign(new URL(testRedis.url), { username: user, password: 'right' });
    const client = connectRedis(address.href, {
      commandTimeoutMs: 5000,
      onError: () => undefined,
      onRefusal: (isRefused) => void told.push(isRefused),
    });
    return { client, told, counters: createRedisCounters(client) };
  };
  const check = { key: 'rl:x', limit: 100, windowMs: 60_000 };

  it('is named at the start, and used when it takes the password', async () => {
    await setPassword('wrong');
    const { client, told, counters } = connect();
    await until(() => told.length > 0);
    expect(findRedis(client)).toEqual({ name: 'redis', state: 'degraded', reason: 'refuses_user' });
    await expect(counters.admit([check])).rejects.toMatchObject({ isRefused: true });
    await setPassword('right');
    await until(async () => (await counters.admit([check])).allowed);
    expect(told).toEqual([true, false]);
    expect(findRedis(client)).toEqual({ name: 'redis', state: 'works' });
    await counters.close();
  });

  it('keeps the connections that there are, and is named once they end', async () => {
    await setPassword('right');
    const { client, told, counters } = connect();
    await until(() => client.status === 'ready');
    await setPassword('wrong');
    expect(await counters.admit([check])).toMatchObject({ allowed: true });
    await operator.call('CLIENT', 'KILL', 'USER', user);
    await until(() => told.length > 0);
    await expect(counters.admit([check])).rejects.toMatchObject({ isRefused: true });
    await setPassword('right');
    await until(async () => (await counters.admit([check])).allowed);
    expect(told).toEqual([true, false]);
    await counters.close();
  });
});
