import type { ProjectDirectory } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Service, ServiceOf } from '@backlot/service';
import {
  anonymous,
  asOwner,
  createServiceBed,
  type ServiceBed,
  type ServiceUnderTest,
  serveForTest,
  type TestAnswer,
  testProject,
} from '@backlot/testing';
import type { PaymentsConfig, StripeSettings } from '../config.ts';
import { paymentsService } from '../service.ts';

export const otherProject = { ...testProject, id: 'otherproject', number: 1002 };
export const publicUrl = 'http://backlot.test';
export const returnUrl = 'http://localhost:3000/thanks?from=cart#top';
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
  verifiedOrigins?: string[];
  productEditors?: string[];
  masterKeys?: Buffer[];
  isTestCheckoutOn?: boolean;
}

export interface TestBed extends Omit<ServiceBed<object>, 'service' | 'another'> {
  service: ServiceOf<typeof paymentsService>;
  /** Ids of owners who are not verified; and whether owners can't be looked up. */
  owners: { unverified: Set<string>; areUnavailable: boolean };
  /** Ids of projects that are deleted. */
  deleted: Set<string>;
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
  /** The same service again on the same database, with other settings. */
  withConfig(
    changes: Partial<PaymentsConfig>,
  ): Promise<ServiceUnderTest & Pick<Service, 'operations'>>;
}

export const masterKey = Buffer.alloc(32, 7);

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const { allowedOrigins, productEditors, verifiedOrigins } = options;
  const settings = {
    ...(allowedOrigins && { allowedOrigins }),
    ...(productEditors && { productEditors }),
  };
  const deleted = new Set<string>();
  const owners = { unverified: new Set<string>(), areUnavailable: false };
  const projects: ProjectDirectory = {
    findProject: async (id) => {
      const status = deleted.has(id) ? 'deleted' : 'active';
      return { ...testProject, id, status, limits: {}, settings, verifiedOrigins } as never;
    },
    findKey: async () => null,
  };
  const config: PaymentsConfig = {
    publicUrl,
    masterKeys: options.masterKeys ?? [masterKey],
    isTestCheckoutOn: options.isTestCheckoutOn ?? true,
    // Nobody listens there: a test that means to reach a provider says where it is.
    stripe: { url: 'http://127.0.0.1:9', timeoutMs: 20_000, retries: 0, ...options.stripe },
  };
  const bed = await createServiceBed(paymentsService, {
    config,
    projects,
    owners: {
      async isVerified(ownerId) {
        if (owners.areUnavailable) throw new Error('projects is down');
        return !owners.unverified.has(ownerId);
      },
    },
  });
  const { call } = bed;
  const others: ServiceUnderTest[] = [];
  return {
    ...bed,
    owners,
    deleted,
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
    async withConfig(changes) {
      const { app, operations } = bed.another({ config: { ...config, ...changes } });
      const server = await serveForTest(app, bed.clock.now);
      others.push(server);
      return { ...server, operations };
    },
    async close() {
      for (const server of others) await server.stop();
      await bed.close();
    },
  };
};
