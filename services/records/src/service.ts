/**
 * The records of all projects, their collections and who may do what with them. Owns the schema
 * `records`. Knows no account and no project beyond what a call's identity says; a user's erasure
 * leaves their records as they are, with the id of an owner that nobody has any more.
 */
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
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import { createCollections } from './collections.ts';
import type { RecordsConfig } from './config.ts';
import { createCounts } from './counts.ts';
import { eraseProject } from './erasure.ts';
import { createLists } from './lists.ts';
import { createRecords } from './records.ts';
import { routesOf } from './routes/index.ts';
import { createScanSlots } from './scan-slots.ts';
import { checkTextOrder } from './text-order.ts';

export interface RecordsDeps {
  /** Of schema `records`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: RecordsConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
}

export interface RecordsService {
  app: Express;
  /** @throws where the database sorts texts in an order that the service can't use */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const createRecordsService = (deps: RecordsDeps): RecordsService => {
  const { database, bus, identitySecret, now, log, config, checkResponses } = deps;
  const { limits } = config;
  const outbox = createOutbox(database, (err) => log.error({ err }, 'events wait to be published'));
  const idempotency = createIdempotencyStore(database);
  const scanSlots = createScanSlots();
  const collections = createCollections({ database, outbox, now });
  const nouns = {
    collections,
    records: createRecords({ database, now }),
    lists: createLists({ database, limits, scanSlots }),
    counts: createCounts({ database, limits, scanSlots }),
  };
  const sweeper = createSweeper(
    () => idempotency.sweep(),
    (err) => log.error({ err }, 'the sweep failed; it runs again'),
  );

  return {
    app: serviceApp({
      routes: routesOf(nouns, identitySecret),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    async start() {
      await checkTextOrder(database);
      await bus.subscribe({
        queue: 'records.project-erased',
        topics: ['project.erased'],
        handler: ({ payload }) =>
          eraseProject(database, events['project.erased'].parse(payload).projectNumber),
      });
      await bus.listen(['collection.changed'], ({ payload }) => {
        const { projectNumber, name } = events['collection.changed'].parse(payload);
        collections.forget(projectNumber, name);
      });
      outbox.start((event) => bus.publish(event));
      sweeper.start();
    },
    async stop() {
      await Promise.all([sweeper.stop(), outbox.stop()]);
    },
  };
};
