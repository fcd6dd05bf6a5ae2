/**
 * Payments: checkout sessions at a provider, and what became of them. Owns no money and no card: the
 * payer gives both to the provider. Refuses to know what was sold; the app reads that from `verify`.
 */
import type { Bus } from '@backlot/bus';
import { events, type ProjectDirectory } from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
  type Outbox,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import { createSealer } from '@backlot/sealing';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import { createTestCheckout } from './checkout/hosted-test.ts';
import { createStripe } from './checkout/stripe.ts';
import { createCheckouts } from './checkouts.ts';
import { createClosing } from './closing.ts';
import type { PaymentsConfig } from './config.ts';
import { eraseProject, eraseUser } from './erasure.ts';
import { createTestSessions } from './hosted-sessions.ts';
import { createPayments } from './payments.ts';
import { createProviders } from './providers.ts';
import { routesOf } from './routes/index.ts';
import { createSecrets } from './secrets.ts';
import { createStripeAccounts } from './stripe-accounts.ts';
import { createSweep } from './sweep.ts';
import { createWebhooks } from './webhooks.ts';

export interface PaymentsDeps {
  /** Of schema `payments`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: PaymentsConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  /** Settings that the signed identity leaves out, and whether a project is deleted. */
  projects: ProjectDirectory;
}

export interface PaymentsService {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Asks providers about open payments that are due; also runs every minute. */
  sweep(): Promise<void>;
}

const sweepMs = 60_000;

const createNouns = (deps: PaymentsDeps, outbox: Outbox) => {
  const { database, config, now } = deps;
  const secrets = createSecrets(database, createSealer(config.masterKeys), now);
  const testCheckout = createTestCheckout({ database, publicUrl: config.publicUrl, now });
  const stripe = createStripe(config.stripe);
  const providers = createProviders({ testCheckout, stripe, secrets });
  const payments = createPayments({ database, outbox, now });
  const checkouts = createCheckouts({ ...deps, payments, providers });
  const closing = createClosing({ ...deps, providers });
  return {
    payments,
    checkouts,
    closing,
    testSessions: createTestSessions({ database, payments, testCheckout }),
    webhooks: createWebhooks({ database, payments, secrets, now }),
    accounts: createStripeAccounts(secrets, stripe),
    sweep: createSweep({ ...deps, payments, providers, checkouts, closing }),
  };
};

export const createPaymentsService = (deps: PaymentsDeps): PaymentsService => {
  const { database, bus, identitySecret, now, log, checkResponses } = deps;
  const outbox = createOutbox(database, (error) =>
    log.error({ err: error }, 'events wait to be published'),
  );
  const idempotency = createIdempotencyStore(database);
  const nouns = createNouns(deps, outbox);
  const onError = (err: unknown) => log.error({ err }, 'the sweep failed; it runs again');
  const sweepers = [
    createSweeper(() => idempotency.sweep(), onError),
    createSweeper(nouns.sweep, onError, sweepMs),
  ];
  return {
    app: serviceApp({
      routes: routesOf(nouns),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    sweep: nouns.sweep,
    async start() {
      await bus.subscribe({
        queue: 'payments.project-erased',
        topics: ['project.erased'],
        async handler({ payload }) {
          const erased = events['project.erased'].parse(payload);
          const { projectNumber } = erased;
          try {
            await nouns.closing.closeAllOf(projectNumber);
          } catch (err) {
            log.error({ err, projectNumber }, 'erased before all of its sessions were closed');
          }
          await eraseProject(database, erased);
        },
      });
      await bus.subscribe({
        queue: 'payments.project-changed',
        topics: ['project.changed'],
        handler: ({ payload }) => nouns.closing.projectChanged(payload),
      });
      await bus.subscribe({
        queue: 'payments.user-erased',
        topics: ['user.erased'],
        handler: ({ payload }) => eraseUser(database, events['user.erased'].parse(payload)),
      });
      outbox.start((event) => bus.publish(event));
      for (const sweeper of sweepers) sweeper.start();
    },
    async stop() {
      await Promise.all([...sweepers, outbox].map((each) => each.stop()));
    },
  };
};
