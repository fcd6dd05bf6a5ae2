import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  createTestBroker,
  createTestDatabase,
  type TestBroker,
  type TestDatabase,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

describe('the process', () => {
  let database: TestDatabase;
  let broker: TestBroker;
  beforeAll(async () => {
    [database, broker] = await Promise.all([createTestDatabase(), createTestBroker()]);
  }, 60_000);
  afterAll(() => Promise.all([database.drop(), broker.drop()]));

  const launch = () =>
    spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url))], {
      env: {
        PORT: '0',
        DATABASE_URL: database.url,
        AMQP_URL: broker.url,
        BACKLOT_IDENTITY_SECRET: 'x'.repeat(32),
        BACKLOT_AUTH_ORIGIN: 'http://127.0.0.1:1',
        BACKLOT_PROJECTS_ORIGIN: 'http://127.0.0.1:1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });

  it('migrates, serves and ends in good order on SIGTERM, a second time as well', async () => {
    for (let start = 0; start < 2; start++) {
      const child = launch();
      const exit = once(child, 'exit');
      try {
        for await (const line of createInterface(child.stdout)) {
          const { port, msg } = JSON.parse(line) as { port?: number; msg: string };
          if (msg !== 'listening') continue;
          expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
          expect(
            (await fetch(`http://127.0.0.1:${port}/email/send`, { method: 'POST' })).status,
          ).toBe(401);
          child.kill('SIGTERM');
        }
      } finally {
        // After a failure; one that has ended is not hurt.
        if (child.exitCode === null && !child.killed) child.kill('SIGKILL');
      }
      expect(await exit).toEqual([0, null]);
    }
  });
});
