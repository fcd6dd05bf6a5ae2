import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  createServiceBed,
  createTestBroker,
  createTestDatabase,
  createTestProxy,
  findFreePort,
  migrateForService,
  type ServiceBed,
  testIdentityKeysSetting,
  until,
} from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type SmallContext, smallService } from './testing/small-service.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('a service', () => {
  const start = async () => {
    const diary: SmallContext['diary'] = [];
    const bed = await createServiceBed(smallService, { config: { greeting: 'hi' }, diary });
    closing.push(() => bed.close());
    return { bed, diary };
  };
  const publish = (bed: ServiceBed<object>, topic: string, payload: unknown) =>
    bed.bus.publish({ id: 'e1', topic, payload });

  it('handles no event and sweeps nothing before it is started', async () => {
    const { bed, diary } = await start();
    await publish(bed, 'project.erased', { projectId: 'p', projectNumber: 7 });
    expect(diary).toEqual([]);
    expect(bed.service.greet()).toBe('hi');
  });

  it('is started before its first sweep and event, and stopped before its last', async () => {
    const { bed, diary } = await start();
    await bed.service.start();
    await publish(bed, 'project.erased', { projectId: 'p', projectNumber: 7 });
    await publish(bed, 'collection.changed', { projectNumber: 7, name: 'todos' });
    await bed.service.stop();
    expect(diary).toEqual(['start', 'sweep', 'erased 7 by e1', 'changed todos', 'stop']);
  });

  it('refuses an event of another shape, so that it is kept aside', async () => {
    const { bed, diary } = await start();
    await bed.service.start();
    await publish(bed, 'project.erased', { projectNumber: 'seven' });
    expect(diary).toEqual(['start', 'sweep']);
  });

  it('publishes what it stores', async () => {
    const { bed, diary } = await start();
    await bed.service.start();
    await bed.service.tell();
    await until(() => diary.includes('changed told'));
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('shows its queues in its metrics', async () => {
    const { bed } = await start();
    const metrics = await bed.registry.metrics();
    expect(metrics).toContain('backlot_queue_waiting{queue="hobbies",lane="slow"} 3');
  });

  it('answers /internal to the platform alone', async () => {
    const { bed } = await start();
    expect(await bed.call('GET', '/internal/anything')).toMatchObject({ status: 401 });
  });
});

describe('the process of a service', () => {
  it('waits for a PostgreSQL that is not there yet, or no more, and for its migrations, and says for what', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'backlot-migrations-'));
    const none = pathToFileURL(`${folder}/`);
    const [database, broker] = await Promise.all([createTestDatabase(), createTestBroker()]);
    const role = await migrateForService(database.url, { ...smallService, migrations: none });
    const proxy = await createTestProxy(role);
    const remove = () => rm(folder, { recursive: true });
    closing.push(() => Promise.all([proxy.close(), broker.drop(), database.drop(), remove()]));
    proxy.shut();
    const port = await findFreePort(17_000);
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return [answer.status, await answer.json()];
    };
    const child: ChildProcess = spawn(
      process.execPath,
      [fileURLToPath(new URL('./testing/small-main.ts', import.meta.url))],
      {
        env: {
          PORT: String(port),
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          DATABASE_URL: proxy.url,
          AMQP_URL: broker.url,
          BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting(smallService.name),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    closing.push(() => child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    const messages: string[] = [];
    if (!child.stdout) throw new Error('The process has no output.');
    for await (const line of createInterface(child.stdout)) {
      const { msg } = JSON.parse(line) as { msg: string };
      messages.push(msg);
      if (messages.length === 1) {
        // It lives, serves nothing, and says why: nobody need start it again.
        expect(await ask('/livez')).toEqual([200, { ok: true }]);
        expect(await ask('/healthz')).toMatchObject([503, { ok: false }]);
        expect(await ask('/readyz')).toMatchObject([
          503,
          { missing: ['postgresql'], dependencies: [{ reason: 'out_of_reach' }] },
        ]);
        await expect(ask('/greet')).rejects.toThrow('fetch failed');
        proxy.open();
      }
      if (msg === 'waiting for migrations') {
        await until(async () => JSON.stringify(await ask('/readyz')).includes('not_migrated'));
        await migrateForService(database.url, smallService);
      }
      if (msg === 'listening') {
        expect(await ask('/livez')).toEqual([200, { ok: true }]);
        expect(await ask('/readyz')).toMatchObject([200, { ok: true }]);
        child.kill('SIGTERM');
      }
    }
    expect(await exit).toEqual([0, null]);
    expect(messages[0]).toBe('PostgreSQL is out of reach; retrying');
    const migrated = messages.slice(messages.indexOf('waiting for migrations') + 1);
    expect(migrated).toContain('PostgreSQL is out of reach; retrying');
    expect(messages.at(-2)).toBe('listening');
  });
});
