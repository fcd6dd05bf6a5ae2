/**
 * Payments: checkout sessions at a provider, and what became of them.
 */
import type { Bus } from '@backlot/bus';
import type { ProjectDirectory } from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import type { PaymentsConfig } from './config.ts';
import { routesOf } from './routes/index.ts';

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
  /** Settings that the signed identity leaves out. */
  projects: ProjectDirectory;
}

export interface PaymentsService {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const createPaymentsService = (deps: PaymentsDeps): PaymentsService => {
  const { database, bus, identitySecret, now, log, checkResponses } = deps;
  const outbox = createOutbox(database, (error) =>
    log.error({ err: error }, 'events wait to be published'),
  );
  const idempotency = createIdempotencyStore(database);
  const sweeper = createSweeper(
    () => idempotency.sweep(),
    (error) => log.error({ err: error }, 'the sweep failed; it runs again'),
  );
  return {
    app: serviceApp({
      routes: routesOf(),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    async start() {
      outbox.start((event) => bus.publish(event));
      sweeper.start();
    },
    async stop() {
      await Promise.all([sweeper.stop(), outbox.stop()]);
    },
  };
};
