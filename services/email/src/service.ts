/**
 * E-mail: what a project may send to whom, and its delivery.
 */
import type { Bus } from '@backlot/bus';
import type { AccountDirectory, ProjectDirectory } from '@backlot/contract';
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
import type { EmailConfig } from './config.ts';
import { routesOf } from './routes/index.ts';

export interface EmailDeps {
  /** Of schema `email`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: EmailConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  /** Settings that the signed identity leaves out. */
  projects: ProjectDirectory;
  accounts: AccountDirectory;
}

export interface EmailService {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const createEmailService = (deps: EmailDeps): EmailService => {
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
