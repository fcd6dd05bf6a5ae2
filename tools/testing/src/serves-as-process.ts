import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@backlot/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { testIdentityKeysSetting } from './identities.ts';
import { createTestBroker, type TestBroker } from './servers/test-broker.ts';
import { createServiceDatabase, type ServiceDatabase } from './service-database.ts';

/**
 * What the process of every service keeps to, over a database and a broker of its own.
 * @param name of the service
 * @param entry its main.ts
 * @param settings those that not every service has
 * @param path takes a POST, and nobody without the gateway's signature
 */
export const servesAsProcess = (
  name: ServiceName,
  entry: URL,
  settings: Record<string, string>,
  path: string,
): void => {
  describe('the process', () => {
    let database: ServiceDatabase;
    let broker: TestBroker;
    const running = new Set<ChildProcess>();
    beforeAll(async () => {
      const migrations = new URL('../migrations/', entry);
      [database, broker] = await Promise.all([
        createServiceDatabase({ name, migrations }),
        createTestBroker(),
      ]);
    }, 60_000);
    afterAll(() => Promise.all([database.drop(), broker.drop()]));

    // One that outlives a failed test holds jest's pipes open, and jest would wait for it for good.
    afterEach(() => {
      for (const child of running) child.kill('SIGKILL');
    });

    const launch = (databaseUrl = database.url) => {
      const child = spawn(process.execPath, [fileURLToPath(entry)], {
        env: {
          PORT: '0',
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          DATABASE_URL: databaseUrl,
          AMQP_URL: broker.url,
          BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting(name),
          ...settings,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      running.add(child);
      child.once('exit', () => running.delete(child));
      return child;
    };

    it('serves and ends in good order on SIGTERM, a second time as well', async () => {
      for (let start = 0; start < 2; start++) {
        const child = launch();
        const exit = once(child, 'exit');
        for await (const line of createInterface(child.stdout)) {
          const { port, msg } = JSON.parse(line) as { port?: number; msg: string };
          if (msg !== 'listening') continue;
          const origin = `http://127.0.0.1:${port}`;
          expect((await fetch(`${origin}/readyz`)).status).toBe(200);
          expect((await fetch(origin + path, { method: 'POST' })).status).toBe(401);
          child.kill('SIGTERM');
        }
        expect(await exit).toEqual([0, null]);
      }
    });

    // By a handler of its own: the first process of a container gets no other signal.
    it('ends by itself on SIGTERM while it waits for PostgreSQL', async () => {
      const child = launch('postgres://nobody:nothing@127.0.0.1:1/none');
      const exit = once(child, 'exit');
      for await (const line of createInterface(child.stdout))
        if (JSON.parse(line).msg === 'PostgreSQL is out of reach; retrying') child.kill('SIGTERM');
      expect(await exit).toEqual([143, null]);
    });
  });
};
