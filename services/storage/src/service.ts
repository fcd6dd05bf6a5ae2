/**
 * Files: what a project's callers upload, who may see it, and its way to a browser without harm. Owns
 * the schema `storage` and the blobs behind it. Refuses to know what an owner has left (the gateway
 * reserves) and how usage is booked (the projects service's ledger).
 */
import type { Bus } from '@backlot/bus';
import { events } from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
  type Outbox,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import type { BlobStore } from './blob-store/blob-store.ts';
import type { StorageConfig } from './config.ts';
import { createFiles } from './files.ts';
import { createImages } from './images/images.ts';
import { createLinks } from './links.ts';
import { createLooseBlobs, renewMs } from './loose-blobs.ts';
import { createRemovals } from './removals.ts';
import { createResumableUploads } from './resumable/resumable-uploads.ts';
import { routesOf } from './routes/index.ts';
import { createCaps } from './upload/caps.ts';
import { createDirectUploads } from './upload/direct-uploads.ts';
import { createSlots } from './upload/slots.ts';
import { createUploads } from './upload/uploads.ts';
import { createUsage } from './usage.ts';

export interface StorageDeps {
  /** Of schema `storage`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: StorageConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  /** Closed by whoever created it, after `stop`. */
  store: BlobStore;
}

export interface StorageService {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Removes what killed processes have left; runs by itself every quarter of a minute. */
  sweepBlobs(): Promise<void>;
}

const createNouns = ({ database, now, log, config, store }: StorageDeps, outbox: Outbox) => {
  const looseBlobs = createLooseBlobs(database, store, now, (err) =>
    log.error({ err }, 'a blob was not removed; it is tried again'),
  );
  const links = createLinks(config, now);
  const usage = createUsage(outbox, now);
  const files = createFiles({ database, links, looseBlobs, usage, now, config });
  const caps = createCaps(files, config);
  const slots = createSlots(config);
  const uploads = createUploads({ store, looseBlobs, caps, slots, config });
  const opened = { database, store, looseBlobs, caps, now };
  const directUploads = createDirectUploads(opened);
  const resumableUploads = createResumableUploads({ ...opened, files, slots });
  const removals = createRemovals({ database, looseBlobs, now });
  const images = createImages({ database, store, looseBlobs, now, config: config.images });
  return {
    ...{ looseBlobs, files, removals, images, uploads, directUploads, resumableUploads },
    ...{ links, store, config, now },
  };
};

export const createStorageService = (deps: StorageDeps): StorageService => {
  const { database, bus, identitySecret, now, log, checkResponses } = deps;
  const outbox = createOutbox(database, (err) => log.error({ err }, 'events wait to be published'));
  const idempotency = createIdempotencyStore(database);
  const nouns = createNouns(deps, outbox);
  const { removals, directUploads, resumableUploads, looseBlobs } = nouns;
  const sweepFailed = (err: unknown) => log.error({ err }, 'the sweep failed; it runs again');
  const sweepBlobs = async () => {
    await looseBlobs.renew();
    await looseBlobs.sweep();
  };
  const sweepers = [
    createSweeper(sweepBlobs, sweepFailed, renewMs),
    createSweeper(
      () =>
        Promise.all(
          [idempotency, removals, directUploads, resumableUploads].map((each) => each.sweep()),
        ),
      sweepFailed,
    ),
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
    sweepBlobs,
    async start() {
      await bus.subscribe({
        queue: 'storage.user-erased',
        topics: ['user.erased'],
        handler: async ({ payload }) => {
          const { projectNumber, userId } = events['user.erased'].parse(payload);
          await removals.eraseUser(projectNumber, userId);
          await resumableUploads.eraseUser(projectNumber, userId);
        },
      });
      await bus.subscribe({
        queue: 'storage.project-erased',
        topics: ['project.erased'],
        handler: async ({ payload }) => {
          const { projectNumber } = events['project.erased'].parse(payload);
          await directUploads.eraseProject(projectNumber);
          await resumableUploads.eraseProject(projectNumber);
          await removals.eraseProject(projectNumber);
        },
      });
      outbox.start((event) => bus.publish(event));
      for (const each of sweepers) each.start();
    },
    async stop() {
      await Promise.all([...sweepers.map((each) => each.stop()), outbox.stop()]);
    },
  };
};
