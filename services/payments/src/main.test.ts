import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import { createDatabase, type Database } from '@backlot/database';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  asOwner,
  createServiceDatabase,
  createTestBroker,
  findTestRoute,
  type ServiceDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestBroker,
  testIdentityKeysSetting,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { paymentsService } from './service.ts';
import { order } from './testing/test-bed.ts';
import { secretKey, startTestStripe, type TestStripe } from './testing/test-stripe.ts';

describe('the process', () => {
  let place: ServiceDatabase;
  let broker: TestBroker;
  let bus: RabbitmqBus;
  let database: Database;
  let stripe: TestStripe;
  let projects: ServiceUnderTest;
  const published: unknown[] = [];
  const running = new Set<ChildProcess>();
  beforeAll(async () => {
    [place, broker] = await Promise.all([
      createServiceDatabase(paymentsService),
      createTestBroker(),
    ]);
    database = createDatabase({ url: place.ownerUrl, schema: 'payments' });
    stripe = await startTestStripe();
    projects = await serveForTest((_req, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ ...testProject, status: 'active', limits: {} }));
    });
    bus = await createRabbitmqBus({ url: broker.url, onDead: () => {}, onError: () => {} });
    await bus.ready(60_000);
    await bus.subscribe({
      queue: 'listener',
      topics: ['payment.changed'],
      handler: async ({ payload }) => void published.push(payload),
    });
  }, 120_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await bus.close();
    await stripe.close();
    await projects.stop();
    await database.close();
    await Promise.all([place.drop(), broker.drop()]);
  });

  const launch = async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url))], {
      env: {
        PORT: '0',
        DATABASE_URL: place.url,
        AMQP_URL: broker.url,
        BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting('payments'),
        BACKLOT_PROJECTS_ORIGIN: projects.url,
        BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 1).toString('base64'),
        BACKLOT_STRIPE_URL: stripe.url,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    const exit = once(child, 'exit').finally(() => running.delete(child));
    const lines = createInterface(child.stdout);
    const port = await new Promise<number>((resolve) => {
      lines.on('line', (line) => {
        const { port, msg } = JSON.parse(line) as { port?: number; msg: string };
        if (msg === 'listening' && port !== undefined) resolve(port);
      });
    });
    const call = async (method: string, path: string, body?: object) => {
      const identity = path.startsWith('/platform') ? asOwner() : anonymous();
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          [identityHeader]: signed(identity, findTestRoute(method, path)),
        },
        body: body ? JSON.stringify(body) : null,
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return { status: response.status, body: (await response.json()) as any };
    };
    return { child, exit, call };
  };
  const rows = () =>
    database.query<{ status: string; session_id: string | null }>(
      'SELECT status, session_id FROM payments',
    );

  it('killed while the provider is asked, leaves no session that could be paid unseen', async () => {
    const first = await launch();
    const path = `/platform/projects/${testProject.id}/secrets/stripe`;
    expect(await first.call('PUT', path, { secretKey })).toMatchObject({ status: 200 });
    stripe.behave('silent');
    const count = stripe.requests.length;
    const lost = first.call('POST', '/payments/checkout', order).catch(() => 'lost');
    await until(() => stripe.requests.length > count);
    first.child.kill('SIGKILL');
    expect(await lost).toBe('lost');
    await first.exit;
    expect(await rows()).toEqual([{ status: 'open', session_id: null }]);

    stripe.behave(null);
    await database.query("UPDATE payments SET check_at = now() - interval '1 minute'");
    const second = await launch();
    await until(async () => (await rows()).length === 0);
    const keys = stripe.requests
      .filter(({ method, path }) => method === 'POST' && path === '/v1/checkout/sessions')
      .map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    expect(stripe.requests.at(-1)?.path).toMatch(/\/expire$/);

    const { body } = await second.call('POST', '/payments/checkout', order);
    await stripe.pay(body.sessionId);
    const verify = `/payments/verify?session_id=${body.sessionId}`;
    const paid = await Promise.all([1, 2, 3].map(() => second.call('GET', verify)));
    expect(paid.map((payment) => payment.body.paid)).toEqual([true, true, true]);
    await until(() => published.length > 0);
    second.child.kill('SIGTERM');
    expect(await second.exit).toEqual([0, null]);
    expect(published).toMatchObject([{ projectId: testProject.id, status: 'paid' }]);
  }, 60_000);
});
