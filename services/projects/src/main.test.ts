import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import type { Counters } from '@backlot/counters';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { createDatabase, type Database } from '@backlot/database';
import {
  createServiceDatabase,
  createTestBroker,
  createTestRedis,
  type ServiceDatabase,
  type TestBroker,
  type TestRedis,
  testIdentityKeysSetting,
  until,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { projectsService } from './service.ts';

const nowhere = 'http://127.0.0.1:9';

describe('the process', () => {
  let place: ServiceDatabase;
  let broker: TestBroker;
  let redis: TestRedis;
  let database: Database;
  let bus: RabbitmqBus;
  let counters: Counters;
  const running = new Set<ChildProcess>();
  beforeAll(async () => {
    [place, broker, redis] = await Promise.all([
      createServiceDatabase(projectsService),
      createTestBroker(),
      createTestRedis(),
    ]);
    database = createDatabase({ url: place.url, schema: 'projects' });
    bus = await createRabbitmqBus({
      url: broker.url,
      onDead: () => {},
      onError: () => {},
      mustReach: ['usage.recorded'],
    });
    counters = createRedisCounters(connectRedis(redis.url, { onError: () => {} }));
  });
  afterAll(async () => {
    await Promise.all([bus.close(), counters.close(), database.close()]);
    await Promise.all([place.drop(), broker.drop(), redis.drop()]);
  });
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  /** Resolves when it listens. */
  const launch = async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url))], {
      env: {
        PORT: '0',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATABASE_URL: place.url,
        REDIS_URL: redis.url,
        AMQP_URL: broker.url,
        BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting('projects'),
        BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 1).toString('base64'),
        BACKLOT_AUTH_ORIGIN: nowhere,
        BACKLOT_RECORDS_ORIGIN: nowhere,
        BACKLOT_AI_ORIGIN: nowhere,
        BACKLOT_EMAIL_ORIGIN: nowhere,
        BACKLOT_PAYMENTS_ORIGIN: nowhere,
        BACKLOT_STORAGE_ORIGIN: nowhere,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    const exit = once(child, 'exit').finally(() => running.delete(child));
    const port = await new Promise<number>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const { port: found, msg } = JSON.parse(line) as { port?: number; msg: string };
        if (msg === 'listening' && found) resolve(found);
      });
      exit.then(() => reject(new Error('It ended before it listened.')), reject);
    });
    return { child, exit, port };
  };

  it('serves and ends in good order on SIGTERM, a second time as well', async () => {
    for (let start = 0; start < 2; start++) {
      const { child, exit, port } = await launch();
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      expect((await fetch(`http://127.0.0.1:${port}/platform/projects`)).status).toBe(401);
      child.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
    }
  });

  it('books each call once and lets go of its credits, though two of it share the queue and one is killed', async () => {
    const ownerId = randomUUID();
    await counters.load(ownerId, 1_000_000, 0);
    const processes = [await launch(), await launch()];
    const callIds = Array.from({ length: 120 }, () => randomUUID());
    const deliver = async (callId: string) => {
      const request = { ownerId, callId, wantMillicredits: 1000, minMillicredits: 1000 };
      const payload = {
        callId,
        ownerId,
        projectId: 'p',
        projectNumber: 7,
        route: 'generateText',
        millicredits: 1000,
        units: {},
        occurredAt: new Date().toISOString(),
      };
      await until(async () => (await counters.admit([], request)).reservation?.kind === 'reserved');
      const event = { topic: 'usage.recorded', payload };
      await bus.publish({ ...event, id: randomUUID() });
      await bus.publish({ ...event, id: randomUUID() });
    };
    const lines = async () => {
      const rows = await database.query<{ call_id: string }>(
        "SELECT call_id FROM transfers WHERE kind = 'debit'",
      );
      return rows.map((row) => row.call_id);
    };
    const delivered = Promise.all(callIds.map(deliver));
    await until(async () => (await lines()).length > 0);
    processes[0]?.child.kill('SIGKILL');
    await delivered;
    const settled = async () =>
      (await lines()).length === callIds.length && (await counters.reserved(ownerId)) === 0;
    await until(settled);
    expect((await lines()).sort()).toEqual([...callIds].sort());
    const [account] = await database.query<{ balance_millicredits: number }>(
      'SELECT balance_millicredits FROM accounts WHERE owner_id = $1',
      [ownerId],
    );
    expect(account?.balance_millicredits).toBe(1_000_000 - callIds.length * 1000);
  });
});
