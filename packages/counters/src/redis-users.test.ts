import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestRedis, startRedis, type TestRedis } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { budgetsConformance } from './credits/budgets.conformance.ts';
import { creditsConformance } from './credits/credits.conformance.ts';
import { connectRedis, createRedisCounters } from './redis.ts';
import { redisUsers } from './redis-users.ts';

const password = 'a-password-of-this-test';
let testRedis: TestRedis;
let operator: Redis;
let database: string;
const open: Redis[] = [];
const names = () => ['gateway', 'projects', 'health'].map((name) => `${name}-${database}`);

beforeAll(async () => {
  testRedis = await createTestRedis();
  operator = new Redis(testRedis.url);
  database = new URL(testRedis.url).pathname.slice(1);
  const users = [
    { name: 'gateway', password, countsCalls: true },
    { name: 'projects', password, countsCalls: false },
  ];
  for (const line of redisUsers(users, password)) {
    const [, name = '', ...rules] = line.split(' ');
    // The test's own connection is the default user's.
    if (name === 'default' || name === 'operator') continue;
    await operator.call('ACL', 'SETUSER', `${name}-${database}`, ...rules);
  }
});
afterEach(async () => {
  for (const client of open.splice(0)) client.disconnect();
  await operator.flushdb();
});
afterAll(async () => {
  await operator.call('ACL', 'DELUSER', ...names());
  operator.disconnect();
  await testRedis.drop();
});

const connectAs = async (name: string) => {
  const url = new URL(testRedis.url);
  [url.username, url.password] = [`${name}-${database}`, password];
  const client =
    name === 'health'
      ? new Redis(url.href, { enableReadyCheck: false, disableClientInfo: true })
      : connectRedis(url.href, { commandTimeoutMs: 5_000, onError: () => undefined });
  // It may not choose its database.
  if (name === 'health') client.on('error', () => undefined);
  open.push(client);
  await new Promise((resolve) => client.once('ready', resolve));
  return client;
};
const createAs = (name: string) => async () => {
  let now = 1_800_000_000_000;
  const counters = createRedisCounters(await connectAs(name), { now: () => now });
  // So old that nothing looks like a Redis that was emptied a moment ago.
  await operator.set('cr:epoch', String(Date.now() - 60_000));
  return {
    counters,
    advance: (ms: number) => {
      now += ms;
    },
  };
};

describe('the user of the gateway', () => {
  creditsConformance('redis, with its rights alone', createAs('gateway'));
  budgetsConformance('redis, with its rights alone', createAs('gateway'));
});

describe('a user of Redis', () => {
  it.each([
    ['gateway', ['SET', 'other', '1'], 'NOPERM'],
    ['gateway', ['FLUSHALL'], 'NOPERM'],
    ['gateway', ['KEYS', '*'], 'NOPERM'],
    ['gateway', ['SCAN', '0'], 'NOPERM'],
    ['gateway', ['CONFIG', 'GET', '*'], 'NOPERM'],
    ['gateway', ['ACL', 'LIST'], 'NOPERM'],
    ['gateway', ['MONITOR'], 'NOPERM'],
    ['gateway', ['DEL', 'cr:epoch'], 'NOPERM'],
    ['gateway', ['EVAL', "return redis.call('GET', 'other')", '0'], 'script'],
    ['gateway', ['GET', 'rl:x'], null],
    ['projects', ['GET', 'cr:x'], null],
    ['projects', ['GET', 'rl:x'], 'NOPERM'],
    ['health', ['PING'], 'PONG'],
    ['health', ['GET', 'cr:x'], 'NOPERM'],
  ])('%s sends %j: %s', async (name, [command = '', ...args], expected) => {
    const client = await connectAs(name);
    const answer = await client.call(command, ...args).catch((error: Error) => error.message);
    if (expected === null) expect(answer).toBeNull();
    else expect(answer).toContain(expected);
  });

  it.each(['gateway', 'projects'])('%s is refused nothing as it connects', async (name) => {
    await operator.call('ACL', 'LOG', 'RESET');
    await connectAs(name);
    expect(JSON.stringify(await operator.call('ACL', 'LOG'))).not.toContain(`${name}-${database}`);
  });

  it('finds what it counted after a restart, and is none without a name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'backlot-redis-users-'));
    const users = redisUsers([{ name: 'gateway', password, countsCalls: true }], password);
    let server = await startRedis({ dataDir: folder, users });
    try {
      const { port } = server;
      const connect = async () => {
        const url = `redis://gateway:${password}@127.0.0.1:${port}`;
        const client = connectRedis(url, { commandTimeoutMs: 5_000, onError: () => undefined });
        open.push(client);
        await new Promise((resolve) => client.once('ready', resolve));
        return client;
      };
      const before = await connect();
      await before.eval(
        "redis.call('SET', KEYS[1], 'a') return redis.call('HSET', KEYS[2], 'held', 7)",
        2,
        'cr:a',
        'cr:b',
      );
      before.disconnect();
      await server.stop();
      server = await startRedis({ dataDir: folder, users, port });
      const client = await connect();
      expect([await client.get('cr:a'), await client.hget('cr:b', 'held')]).toEqual(['a', '7']);
      const nobody = new Redis(port, '127.0.0.1', { enableReadyCheck: false, lazyConnect: true });
      nobody.on('error', () => undefined);
      open.push(nobody);
      await expect(nobody.get('cr:a')).rejects.toThrow('NOAUTH');
    } finally {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
