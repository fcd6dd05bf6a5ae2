import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { longestCallMs, originSettingName, services } from '@backlot/contract';
import {
  createDatabase,
  type DatabaseOptions,
  DatabaseRefused,
  DatabaseUnavailable,
  type Migrations,
  pendingMigrations,
  requireOwnSessions,
} from '@backlot/database';
import { busyLingerMs, createHttpDirectories, createSilenceGuards, serve } from '@backlot/http';
import {
  countRepeats,
  createLogger,
  createRegistry,
  currentOrigin,
  type Logger,
  metricsListener,
  openTracing,
} from '@backlot/telemetry';
import { z } from 'zod';
import { type RunnableService, servicesBehind } from '../runnable-service.ts';
import {
  portSetting,
  processSettings,
  readOrigins,
  readSettings,
  readTracing,
} from '../settings/settings.ts';
import { boundHeapGrowth } from '../v8-options.ts';
import { openBus } from './bus.ts';
import { pauses } from './pauses.ts';
import { refusalText, reportRefusal } from './refusals.ts';
import { endOnFault, endOnSignal, stopOnSignal } from './stop.ts';
import { createWaitingApp, type WaitingApp } from './waiting-app.ts';

type Process = Pick<RunnableService<object, never>, 'name' | 'asks'>;

const settingsOfEveryService = ({ name, asks }: Process) =>
  z.object({
    ...processSettings(name, servicesBehind(asks)),
    PORT: portSetting.optional(),
    DATABASE_URL: z.string().min(1),
  });

/** Names of all settings that the process of a service reads. */
export const settingNames = (
  service: Process & Pick<RunnableService<object, never>, 'config'>,
): string[] => [
  ...Object.keys(settingsOfEveryService(service).shape),
  ...servicesBehind(service.asks).map(originSettingName),
  ...service.config.names,
];

const busPatienceMs = 10_000;
/** The gateway gives up first. */
const drainMarginMs = 2000;

const databaseSetting = 'DATABASE_URL';

/** What a database tells, as lines of the log. */
export const databaseReports = (
  log: Logger,
): Pick<DatabaseOptions, 'onConnectionLost' | 'onSilence' | 'onRefusal'> => ({
  onConnectionLost: countRepeats((lost) => log.warn(lost, 'lost a connection to PostgreSQL')),
  onSilence: (isSilent) =>
    isSilent
      ? log.error('PostgreSQL is silent; calls are refused until it answers')
      : log.info('PostgreSQL answers again'),
  onRefusal: reportRefusal(log, 'PostgreSQL', databaseSetting),
});

/** Tries until it is done, for as long as PostgreSQL is away; says so. */
const untilDone = async (
  work: () => Promise<boolean>,
  log: Logger,
  waitsFor: WaitingApp['waitsFor'],
) => {
  const isAway = countRepeats((away) => log.warn(away, 'PostgreSQL is out of reach; retrying'));
  const isRefused = countRepeats((refused) =>
    log.error({ ...refused, setting: databaseSetting }, refusalText('PostgreSQL')),
  );
  for (const pauseMs of pauses()) {
    try {
      if (await work()) return;
    } catch (err) {
      if (!(err instanceof DatabaseUnavailable)) throw err;
      if (err instanceof DatabaseRefused) {
        isRefused(err);
        waitsFor('postgresql', 'refuses_role');
      } else {
        isAway(err);
        waitsFor('postgresql', 'out_of_reach');
      }
    }
    await sleep(pauseMs);
  }
};

/** Waits for a PostgreSQL that is not there yet, and for the migrate program; says for what, once. */
const untilMigrated = async (place: Migrations, log: Logger, waitsFor: WaitingApp['waitsFor']) => {
  let said = '';
  const isMigrated = async () => {
    await requireOwnSessions(place.url);
    const pending = await pendingMigrations(place);
    if (pending.length === 0) return true;
    if (said !== pending.join()) log.warn({ pending }, 'waiting for migrations');
    said = pending.join();
    waitsFor('postgresql', 'not_migrated');
    return false;
  };
  await untilDone(isMigrated, log, waitsFor);
};

/** Listens, waits for its schema, starts the service, and stops in the reverse order at the first signal. */
export const runService = async (runnable: RunnableService<object, never>): Promise<void> => {
  boundHeapGrowth();
  const keepRunning = endOnSignal();
  const { name, migrations, asks } = runnable;
  const { env } = process;
  const settings = readSettings(settingsOfEveryService(runnable), env);
  const origins = readOrigins(env, servicesBehind(asks));
  const log = createLogger({ service: name, level: settings.BACKLOT_LOG_LEVEL });
  endOnFault(log);
  const registry = createRegistry(name);
  const tracer = await openTracing({ service: name, ...readTracing(settings) });
  const place = { url: settings.DATABASE_URL, schema: name };
  const { BACKLOT_METRICS_PORT: metricsPort, HOST: host } = settings;
  const port = settings.PORT ?? services[name].port;
  const drainMs = longestCallMs(name) + drainMarginMs;
  const { app, waitsFor, open } = createWaitingApp();
  const listening = await serve(app, { port, host, drainMs, lingerMs: busyLingerMs });
  const metrics =
    metricsPort === undefined
      ? undefined
      : await serve(metricsListener(registry), { port: metricsPort, host });
  await untilMigrated({ ...place, directory: fileURLToPath(migrations) }, log, waitsFor);
  const database = createDatabase({
    ...place,
    ...databaseReports(log),
  });
  const bus = await openBus(settings.AMQP_URL, log);
  // It serves without events too; they wait in the outbox.
  await bus
    .ready(busPatienceMs)
    .catch((err: unknown) => log.warn({ err }, 'starting without events'));
  const shared = {
    identityKeys: settings.BACKLOT_IDENTITY_KEYS,
    now: Date.now,
    log,
    currentOrigin,
  };
  const { service, close } = await runnable.open({
    ...shared,
    env,
    database,
    bus,
    directories: createHttpDirectories(asks, origins, shared, createSilenceGuards(origins, log)),
    registry,
    tracer,
    checkResponses: false,
  });
  const started = () => service.start().then(() => true);
  await untilDone(started, log, waitsFor);
  open(service.app);
  keepRunning();
  stopOnSignal(async (cut) => {
    service.drain();
    await listening.stop(cut);
    await service.stop();
    await bus.close();
    await close();
    await database.close();
    await metrics?.stop();
    await tracer?.stop();
  }, log);
  log.info({ port: listening.port }, 'listening');
};
