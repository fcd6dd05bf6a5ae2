import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import { events, type Payload } from '@backlot/contract';
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
import { eventText, signature, webhookSecret, webhookSession } from './testing/stripe-bed.ts';
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
  const told: Payload<'record.paid'>[] = [];
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
    await bus.subscribe({
      queue: 'records.record-paid',
      topics: ['record.paid'],
      handler: async ({ payload }) => void told.push(events['record.paid'].parse(payload)),
    });
  });
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
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
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
    const call = async (method: string, path: string, body?: object | string, headers = {}) => {
      const isOwners = path.startsWith('/platform') || path.startsWith('/products');
      const identity = isOwners ? asOwner() : anonymous();
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          [identityHeader]: signed(identity, findTestRoute(method, path)),
          ...headers,
        },
        body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
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
  });

  it('killed while webhook, verify and sweep report payments, tells each record of its own once and takes the stock once', async () => {
    const rounds = 4;
    const first = await launch();
    const control = `/platform/projects/${testProject.id}`;
    for (const [path, body] of [
      [`${control}/secrets/stripe`, { secretKey, webhookSecret }],
      [
        `${control}/on-paid/order`,
        { collection: 'orders', set: { status: 'paid' }, pays: 'items' },
      ],
      ['/products/mug', { name: 'Mug', amount: 1999, stock: 100 }],
    ] as const)
      expect(await first.call('PUT', path, body)).toMatchObject({ status: 200 });
    const recordIds = Array.from({ length: rounds }, () => randomUUID());
    const sessions: string[] = [];
    for (const recordId of recordIds) {
      const { body } = await first.call('POST', '/payments/checkout', {
        items: [{ product: 'mug', quantity: 2 }],
        returnUrl: 'http://localhost:3000/thanks',
        onPaid: { rule: 'order', recordId },
      });
      sessions.push(body.sessionId);
    }
    first.child.kill('SIGKILL');
    await first.exit;
    for (const sessionId of sessions) await stripe.pay(sessionId);

    type Calls = Awaited<ReturnType<typeof launch>>['call'];
    const report = (call: Calls, sessionId: string) => {
      const object = webhookSession(sessionId, { payment_intent: undefined });
      const text = eventText({ type: 'checkout.session.completed', object });
      const headers = { 'stripe-signature': signature(text, webhookSecret, Date.now()) };
      const verify = () => call('GET', `/payments/verify?session_id=${sessionId}`);
      const arrive = () => call('POST', '/payments/webhook', text, headers);
      return [arrive, verify, arrive, verify].map((send) => send().catch(() => undefined));
    };
    for (let round = 0; round < rounds; round++) {
      // So that the sweep of the process looks at all of them as it starts.
      await database.query("UPDATE payments SET check_at = now() - interval '1 minute'");
      const { child, exit, call } = await launch();
      const reports = sessions.slice(0, round + 1).flatMap((sessionId) => report(call, sessionId));
      await new Promise((resolve) => setTimeout(resolve, 20 * round));
      child.kill('SIGKILL');
      await Promise.all([exit, ...reports]);
    }

    const last = await launch();
    for (const sessionId of sessions) await Promise.all(report(last.call, sessionId));
    const { body: product } = await last.call('GET', '/products/mug');
    expect(product.stock).toBe(100 - 2 * rounds);
    const payments = await database.query<{ id: string; status: string }>(
      'SELECT id, status FROM payments WHERE session_id = ANY ($1)',
      [sessions],
    );
    expect(payments.map(({ status }) => status)).toEqual(sessions.map(() => 'paid'));
    await until(() => new Set(told.map(({ recordId }) => recordId)).size === rounds);
    // Again by the bus, perhaps, but always the same.
    const different = new Set(told.map((paid) => JSON.stringify(paid)));
    expect(different.size).toBe(rounds);
    expect(told.map(({ recordId }) => recordId)).toEqual(expect.arrayContaining(recordIds));
    last.child.kill('SIGTERM');
    expect(await last.exit).toEqual([0, null]);
  });
});
