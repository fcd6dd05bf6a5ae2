import { fileURLToPath } from 'node:url';
import { type Bus, createInProcessBus } from '@backlot/bus';
import { events, type Payload, type ProjectDirectory } from '@backlot/contract';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { type Identity, identityHeader } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import {
  anonymous,
  asOwner,
  createTestDatabase,
  type ServiceUnderTest,
  serveForTest,
  signed,
  type TestAnswer,
  testIdentitySecret,
  testProject,
} from '@backlot/testing';
import type { StripeSettings } from './config.ts';
import { createPaymentsService, type PaymentsService } from './service.ts';

export const otherProject = { ...testProject, id: 'otherproject', number: 1002 };
export const publicUrl = 'http://backlot.test';
export const returnUrl = 'https://shop.example/thanks?from=cart#top';
export const order = {
  items: [
    { name: 'Mug', amount: 1999, quantity: 2 },
    { name: 'Sticker', amount: 250 },
  ],
  returnUrl,
  metadata: { orderId: 'o-1' },
};

export interface TestBedOptions {
  stripe?: Partial<StripeSettings>;
  allowedOrigins?: string[];
  masterKeys?: Buffer[];
}

export interface TestBed {
  service: PaymentsService;
  http: ServiceUnderTest;
  database: Database;
  bus: Bus;
  /** Ids of projects that are deleted. */
  deleted: Set<string>;
  /** Epoch milliseconds; starts at the present. */
  now(): number;
  pass(ms: number): void;
  checkout(
    body?: unknown,
    options?: { identity?: Identity; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** A session of the test project. */
  session(body?: unknown, identity?: Identity): Promise<string>;
  verify(sessionId: string, identity?: Identity): Promise<TestAnswer>;
  /** Presses a button of the test checkout's page. */
  press(sessionId: string, action: string, identity?: Identity): Promise<TestAnswer>;
  owner(method: string, path: string, body?: unknown, identity?: Identity): Promise<TestAnswer>;
  /** What a provider sends, with this signature and no other credential. */
  webhook(body: string, signature: string, identity?: Identity): Promise<TestAnswer>;
  /** What was stored for the bus; empties the list. */
  takeEvents(): Promise<Payload<'payment.changed'>[]>;
  /** The same service again on the same database, with other master keys. */
  withMasterKeys(masterKeys: Buffer[]): Promise<ServiceUnderTest>;
  close(): Promise<void>;
}

export const masterKey = Buffer.alloc(32, 7);

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const testDatabase = await createTestDatabase();
  const place = { url: testDatabase.url, schema: 'payments' };
  await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
  const database = createDatabase(place);
  const bus = createInProcessBus({ onDead: () => {} });
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  const settings = options.allowedOrigins ? { allowedOrigins: options.allowedOrigins } : {};
  const deleted = new Set<string>();
  const projects: ProjectDirectory = {
    findProject: async (id) =>
      ({
        ...testProject,
        id,
        status: deleted.has(id) ? 'deleted' : 'active',
        limits: {},
        settings,
      }) as never,
    findKey: async () => null,
  };
  const create = (masterKeys: Buffer[]) =>
    createPaymentsService({
      database,
      bus,
      identitySecret: testIdentitySecret,
      now,
      log: createLogger({ service: 'payments', level: 'silent' }),
      config: {
        publicUrl,
        masterKeys,
        // Nobody listens there: a test that means to reach a provider says where it is.
        stripe: { url: 'http://127.0.0.1:9', timeoutMs: 2000, retries: 0, ...options.stripe },
      },
      checkResponses: true,
      projects,
    });
  const service = create(options.masterKeys ?? [masterKey]);
  const running: ServiceUnderTest[] = [];
  /** Identities are signed by the clock of the service. */
  const serve = async (app: PaymentsService['app']): Promise<ServiceUnderTest> => {
    const served = await serveForTest(app);
    running.push(served);
    return {
      ...served,
      call: (method, path, { identity, headers = {}, ...rest } = {}) =>
        served.call(method, path, {
          ...rest,
          headers: {
            ...(identity ? { [identityHeader]: signed(identity, now()) } : {}),
            ...headers,
          },
        }),
    };
  };
  const http = await serve(service.app);
  const { call } = http;
  return {
    service,
    http,
    database,
    bus,
    deleted,
    now,
    pass(ms) {
      passedMs += ms;
    },
    checkout: (body = order, { identity = anonymous(), headers = {} } = {}) =>
      call('POST', '/payments/checkout', { identity, body, headers }),
    async session(body = order, identity = anonymous()) {
      const answer = await call('POST', '/payments/checkout', { identity, body });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return String(answer.body.sessionId);
    },
    verify: (sessionId, identity = anonymous()) =>
      call('GET', `/payments/verify?${new URLSearchParams({ session_id: sessionId })}`, {
        identity,
      }),
    press: (sessionId, action, identity = anonymous()) =>
      call('POST', `/payments/test-checkout/${sessionId}`, {
        identity,
        body: `action=${action}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      }),
    owner: (method, path, body, identity = asOwner()) =>
      call(method, `/platform/projects/${identity.project.id}${path}`, {
        identity,
        ...(body === undefined ? {} : { body }),
      }),
    webhook: (body, signature, identity = anonymous()) =>
      call('POST', '/payments/webhook', {
        identity,
        body,
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      }),
    async takeEvents() {
      const rows = await database.query<{ topic: string; payload: unknown }>(
        'WITH taken AS (DELETE FROM outbox RETURNING *) SELECT topic, payload FROM taken ORDER BY id',
      );
      return rows.map(({ topic, payload }) => {
        if (topic !== 'payment.changed') throw new Error(`an event of topic ${topic}`);
        return events[topic].parse(payload);
      });
    },
    withMasterKeys: (masterKeys) => serve(create(masterKeys).app),
    async close() {
      for (const each of running) await each.stop();
      for (const each of [database, bus]) await each.close();
      await testDatabase.drop();
    },
  };
};
