/**
 * Text from language models: what a caller may ask for, in which form it is answered, and what it
 * used. Owns owners' prompts and keys and visitors' days, no conversation. Refuses to know which model
 * answers (a provider's business), what an owner has left (the gateway reserves) and how usage is
 * booked (the projects service's ledger).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@backlot/bus';
import { events } from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import { createSealer } from '@backlot/sealing';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import { createAnswers } from './answers.ts';
import { boundGenerations } from './bounded-generations.ts';
import type { AiConfig } from './config.ts';
import { eraseProject } from './erasure.ts';
import { createGenerations } from './generations.ts';
import type { JsonSchemas } from './json-schema/json-schemas.ts';
import type { ModelProvider } from './model-provider/model-provider.ts';
import { createOpening } from './opening.ts';
import { createProjectKeys } from './project-keys.ts';
import { createPrompts } from './prompts.ts';
import { routesOf } from './routes/index.ts';
import { createSpendings } from './spending.ts';
import { createUsage } from './usage.ts';
import { createVisitorBudgets } from './visitor-budgets.ts';

export interface AiDeps {
  /** Of schema `ai`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: AiConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  provider: ModelProvider;
  /** Closed by whoever created it, after `stop`. */
  schemas: JsonSchemas;
}

export interface AiService {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Calls that were cut off still have to store what they used. */
const stopPatienceMs = 5000;

export const createAiService = (deps: AiDeps): AiService => {
  const { database, bus, identitySecret, now, log, config, checkResponses } = deps;
  const { provider, schemas } = deps;
  const outbox = createOutbox(database, (error) =>
    log.error({ err: error }, 'events wait to be published'),
  );
  const idempotency = createIdempotencyStore(database);
  const visitorBudgets = createVisitorBudgets(database, now);
  const sweeper = createSweeper(
    async () => {
      await idempotency.sweep();
      await visitorBudgets.sweep();
    },
    (error) => log.error({ err: error }, 'the sweep failed; it runs again'),
  );
  const usage = createUsage(outbox, now);
  const prompts = createPrompts(database, now);
  const sealer = createSealer(config.masterKeys);
  const projectKeys = createProjectKeys({ ...config, database, sealer, provider, now });
  const open = createOpening({
    provider,
    schemas,
    prompts,
    projectKeys,
    spendings: createSpendings({ database, usage, visitorBudgets, now }),
    usage,
    config,
  });
  const generations = boundGenerations(
    createGenerations(open, createAnswers(provider, schemas)),
    config.maxCalls,
  );
  return {
    app: serviceApp({
      routes: routesOf({ generations, prompts, projectKeys }),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    async start() {
      await bus.subscribe({
        queue: 'ai.project-erased',
        topics: ['project.erased'],
        handler: ({ payload }) =>
          eraseProject(database, events['project.erased'].parse(payload).projectNumber),
      });
      outbox.start((event) => bus.publish(event));
      sweeper.start();
    },
    async stop() {
      await Promise.race([generations.idle(), sleep(stopPatienceMs, undefined, { ref: false })]);
      await Promise.all([sweeper.stop(), outbox.stop()]);
    },
  };
};
