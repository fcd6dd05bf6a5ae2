import { fileURLToPath } from 'node:url';
import type { Bus } from '@backlot/bus';
import { createDatabase, type Database, migrate } from '@backlot/database';
import { serve } from '@backlot/http';
import { type IdentitySecret, identitySecret } from '@backlot/identity';
import {
  createLogger,
  createRegistry,
  type Logger,
  metricsListener,
  type Registry,
} from '@backlot/telemetry';
import { z } from 'zod';
import { openBus } from './bus.ts';
import { portSetting, readSettings, sharedSettings } from './settings.ts';
import { stopOnSignal } from './stop.ts';

/** What a service is made from in a process of its own. */
export interface Parts {
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  now: () => number;
  log: Logger;
  registry: Registry;
  checkResponses: false;
}

export interface RunnableService {
  app: Parameters<typeof serve>[0];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends what is needed until the last event is handled. */
  close?(): Promise<void>;
}

export interface ServiceProcess {
  /** Also the schema of its tables. */
  name: string;
  /** Where it listens unless PORT says otherwise. */
  port: number;
  /** `import.meta.url` of the entry: the migrations lie in `../migrations`. */
  entry: string;
  create(parts: Parts): RunnableService;
}

const busPatienceMs = 10_000;

/** Migrates, starts the service, listens, and stops in the reverse order. */
export const runService = async ({ name, port, entry, create }: ServiceProcess): Promise<void> => {
  const schema = z.object({
    ...sharedSettings,
    PORT: portSetting.default(port),
    DATABASE_URL: z.string().min(1),
  });
  const settings = readSettings(schema, process.env);
  const log = createLogger({ service: name, level: settings.BACKLOT_LOG_LEVEL });
  const registry = createRegistry(name);
  const place = { url: settings.DATABASE_URL, schema: name };
  await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', entry)) });
  const database = createDatabase({
    ...place,
    onConnectionLost: (err) => log.warn({ err }, 'lost a connection to PostgreSQL'),
  });
  const bus = await openBus(settings.AMQP_URL, log);
  // It serves without events too; they wait in the outbox.
  await bus
    .ready(busPatienceMs)
    .catch((err: unknown) => log.warn({ err }, 'starting without events'));
  const service = create({
    database,
    bus,
    identitySecret: identitySecret(settings.BACKLOT_IDENTITY_SECRET),
    now: Date.now,
    log,
    registry,
    checkResponses: false,
  });
  await service.start();
  const listening = await serve(service.app, { port: settings.PORT });
  const metrics =
    settings.BACKLOT_METRICS_PORT === undefined
      ? undefined
      : await serve(metricsListener(registry), { port: settings.BACKLOT_METRICS_PORT });
  log.info({ port: listening.port }, 'listening');
  stopOnSignal(async () => {
    await listening.stop();
    await service.stop();
    await bus.close();
    await service.close?.();
    await database.close();
    await metrics?.stop();
  }, log);
};
