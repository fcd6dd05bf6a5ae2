import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestProxy,
  createTestRedis,
  type RunningRedis,
  startRedis,
  type TestRedis,
  until,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { countersConformance } from './counters.conformance.ts';
import { CountersUnavailable, type RateCheck } from './counters.ts';
import { budgetsConformance } from './credits/budgets.conformance.ts';
import { creditsConformance } from './credits/credits.conformance.ts';
import { connectRedis, createRedisCounters } from './redis.ts';

const start = 1_800_000_000_000;

let testRedis: TestRedis;
let direct: Redis;
beforeAll(async () => {
  testRedis = await createTestRedis();
  direct = new Redis(testRedis.url);
});
afterAll(async () => {
  direct.disconnect();
  await testRedis.drop();
});

const connections: Redis[] = [];
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.disconnect();
  await direct.flushdb();
});

/** A connection that is ready; a machine under load may take longer than the usual 50 ms. */
async function connect(url = testRedis.url, commandTimeoutMs = 5_000): Promise<Redis> {
  const client = connectRedis(url, { commandTimeoutMs, onError: () => undefined });
  connections.push(client);
  await until(() => client.status === 'ready', { what: 'the connection to Redis' });
  return client;
}

const check = (limit: number, key = '{tenant}:k'): RateCheck => ({ key, limit, windowMs: 60_000 });

const create = async () => {
  let now = start;
  const counters = createRedisCounters(await connect(), { now: () => now });
  // So old that nothing looks like a Redis that was emptied a moment ago.
  await direct.set('cr:epoch', String(Date.now() - 60_000));
  return {
    counters,
    advance: (ms: number) => {
      now += ms;
    },
  };
};

countersConformance('redis', create);
creditsConformance('redis', create);
budgetsConformance('redis', create);

describe('counters in Redis', () => {
  it('are exact for 64 parallel clients over two connections, by the clock of Redis', async () => {
    const gateways = [createRedisCounters(await connect()), createRedisCounters(await connect())];
    const clients = Array.from({ length: 64 }, async (_, client) => {
      let passed = 0;
      for (let call = 0; call < 20; call++) {
        // A window of a day: nothing flows back while the test runs.
        const limit = { ...check(500), windowMs: 86_400_000 };
        const admission = await gateways[client % 2]?.admit([limit]);
        if (admission?.allowed) passed++;
      }
      return passed;
    });
    const passed = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    expect(passed).toBe(500);
  });

  it('agree although the clocks of the gateways differ', async () => {
    const clock = Date.now;
    const counters = createRedisCounters(await connect());
    try {
      expect((await counters.admit([check(1)])).allowed).toBe(true);
      Date.now = () => clock() + 3_600_000;
      expect((await counters.admit([check(1)])).allowed).toBe(false);
    } finally {
      Date.now = clock;
    }
  });

  it('take one round trip a call, however many checks it has', async () => {
    const counters = createRedisCounters(await connect());
    await counters.admit([check(1000)]);
    const monitor = await direct.monitor();
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      if (source !== 'lua') sent.push(String(args[0]).toLowerCase());
    });
    for (let call = 0; call < 5; call++) {
      await counters.admit([check(1000), check(1000, '{tenant}:project')]);
    }
    await direct.echo('the end');
    await until(() => sent.includes('echo'));
    monitor.disconnect();
    expect(sent).toEqual([...Array.from({ length: 5 }, () => 'evalsha'), 'echo']);
  });

  it('leave nothing behind: each key ends a window after its last call', async () => {
    const counters = createRedisCounters(await connect());
    await counters.admit([check(10), { ...check(10, '{tenant}:p'), windowMs: 1_000 }]);
    await counters.admit([check(0, '{tenant}:none')]);
    expect((await direct.keys('{tenant}*')).sort()).toEqual(['{tenant}:k', '{tenant}:p']);
    expect(await direct.pttl('{tenant}:k')).toBeLessThanOrEqual(60_000);
    await until(async () => (await direct.exists('{tenant}:p')) === 0);
  });

  it('refuse keys that a Redis Cluster would keep on different nodes', async () => {
    const counters = createRedisCounters(await connect());
    for (const stray of ['{other}:k', 'tenant:k', '{}tenant', 'x{tenant']) {
      await expect(counters.admit([check(1), check(1, stray)])).rejects.toThrow(RangeError);
    }
    expect((await counters.admit([check(1), check(1, 'x{tenant}y')])).allowed).toBe(true);
    expect(await counters.admit([])).toEqual({ allowed: true, retryAfterMs: 0, states: [] });
  });
});

describe('counters while Redis is out of reach', () => {
  let parent: string;
  let server: RunningRedis;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-counters-'));
    server = await startRedis({ dataDir: join(parent, 'redis'), throwaway: true });
  });
  afterAll(async () => {
    await server.stop();
    await rm(parent, { recursive: true, force: true });
  });

  it('say so at once, and count again from nothing when Redis is back, empty', async () => {
    const counters = createRedisCounters(await connect(server.url));
    expect((await counters.admit([check(1)])).allowed).toBe(true);
    expect((await counters.admit([check(1)])).allowed).toBe(false);
    await server.kill();
    for (let call = 0; call < 3; call++) {
      await expect(counters.admit([check(1)])).rejects.toThrow(CountersUnavailable);
    }
    await server.restart();
    const admission = await until(() => counters.admit([check(1)]), { what: 'the recovery' });
    expect(admission.allowed).toBe(true);
    expect((await counters.admit([check(1)])).allowed).toBe(false);
  });

  it('get their reservations back after Redis was emptied, before anybody can spend them again', async () => {
    let toldOfLoss = 0;
    const [one, two] = [
      createRedisCounters(await connect(server.url), { onLoss: () => void toldOfLoss++ }),
      createRedisCounters(await connect(server.url)),
    ];
    const request = (callId: string) => ({
      ownerId: 'owner',
      callId,
      wantMillicredits: 1000,
      minMillicredits: 1000,
    });
    const load = () => one.load('owner', 3000, 1);
    const reserve = (counters: typeof one, callId: string) => counters.admit([], request(callId));
    await load();
    await until(async () => (await reserve(one, 'a')).reservation?.kind === 'reserved');
    expect(await reserve(two, 'b')).toMatchObject({ reservation: { kind: 'reserved' } });
    await two.settle('owner', 'b', 500);

    await server.kill();
    await one.settle('owner', 'a', 700);
    await server.restart();
    await until(() => load().then(() => true));
    expect(await reserve(one, 'c')).toMatchObject({ reservation: { kind: 'unloaded' } });
    await until(async () => (await reserve(one, 'c')).reservation?.kind === 'reserved');
    expect(await one.held('owner')).toEqual(
      expect.arrayContaining([
        { callId: 'a', millicredits: 700 },
        { callId: 'b', millicredits: 500 },
        { callId: 'c', millicredits: 1000 },
      ]),
    );
    expect(await one.reserved('owner')).toBe(2200);
    expect(await reserve(two, 'd')).toMatchObject({ reservation: { kind: 'insufficient' } });
    await until(() => toldOfLoss === 1);
    await Promise.all([one.close(), two.close()]);
  });

  it('are believed although the process was busy for longer than the command time-out', async () => {
    const counters = createRedisCounters(await connect(server.url, 500));
    await until(() => counters.admit([check(1000)]));
    const admissions = Array.from({ length: 5 }, () => counters.admit([check(1000)]));
    const busyUntil = performance.now() + 1000;
    while (performance.now() < busyUntil);
    expect((await Promise.all(admissions)).every(({ allowed }) => allowed)).toBe(true);
  });

  it('wait no longer than the command time-out for a Redis that hangs', async () => {
    const counters = createRedisCounters(await connect(server.url, 50));
    await direct.del('{tenant}:k');
    const blocker = new Redis(server.url);
    connections.push(blocker);
    await blocker.ping();
    const paused = await blocker.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    expect(paused).toBe('OK');
    await expect(counters.admit([check(1)])).rejects.toThrow(CountersUnavailable);
    await blocker.call('CLIENT', 'UNPAUSE');
  });

  it('are back where the network has dropped the packets of their connection for good', async () => {
    const proxy = await createTestProxy(testRedis.url);
    const counters = createRedisCounters(await connect(proxy.url, 500));
    await until(() => counters.admit([check(10)]));
    proxy.forget();
    await expect(counters.admit([check(10)])).rejects.toThrow(CountersUnavailable);
    await until(() => counters.admit([check(10)]));
    await proxy.close();
  });

  it('are back, with no answer to the wrong call, once a silent Redis answers again', async () => {
    const proxy = await createTestProxy(testRedis.url);
    // Long enough that what is counted is also heard of, on a busy machine too.
    const counters = createRedisCounters(await connect(proxy.url, 1000));
    await until(() => counters.admit([check(1000)]));
    proxy.freeze();
    await expect(counters.admit([check(1000, 'unheard')])).rejects.toThrow(CountersUnavailable);
    proxy.thaw();
    const { states } = await until(() => counters.admit([check(7, 'heard')]));
    expect(states.map(({ limit, remaining }) => [limit, remaining])).toEqual([[7, 6]]);
    await proxy.close();
  });
});
