import type { Bus } from '@backlot/bus';
import type { Directories, DirectoryName, ServiceName } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import { createDatabase } from '@backlot/database';
import { databaseReports, type Service } from '@backlot/service';
import type { Logger } from '@backlot/telemetry';
import type { DatabaseUrls } from './database/prepare-database.ts';
import { identityKeysFor } from './identity-keys.ts';
import { runnableServices, type serviceList } from './service-list.ts';

export interface ServicesOptions {
  /** Settings of all services. */
  env: Readonly<Record<string, string | undefined>>;
  databaseUrls: DatabaseUrls;
  /** Each service gets keys of its own, made from it. */
  identityRoot: string;
  now: () => number;
  log: Logger;
  bus: Bus;
  counters: Counters;
  checkResponses: boolean;
}

export type Services = {
  [Name in keyof typeof serviceList]: Awaited<
    ReturnType<(typeof serviceList)[Name]['open']>
  >['service'];
};

/** One of a service that is not there yet: some ask each other in a circle. */
const foundLater = (known: Partial<Directories>, name: DirectoryName) =>
  new Proxy(
    {},
    {
      get:
        (_target, method) =>
        async (...asked: unknown[]) => {
          const directory = known[name] as unknown as Record<
            string | symbol,
            (...asked: unknown[]) => Promise<unknown>
          >;
          return directory[method]?.(...asked);
        },
    },
  );

/**
 * Every service on one migrated database, not started yet; they ask each other by function calls. What must be
 * closed is pushed to `running`.
 */
export const openServices = async (
  { env, databaseUrls, counters, identityRoot, ...shared }: ServicesOptions,
  running: (() => Promise<unknown>)[],
): Promise<Services> => {
  const known: Partial<Directories> = {};
  const services: Partial<Record<ServiceName, Service>> = {};
  for (const { name, asks, open } of runnableServices) {
    const database = createDatabase({
      url: databaseUrls[name],
      schema: name,
      ...databaseReports(shared.log),
    });
    running.push(() => database.close());
    const adapters = name === 'projects' ? { counters } : undefined;
    const identityKeys = identityKeysFor(name, identityRoot);
    const directories = Object.fromEntries(
      asks.map((asked) => [asked, known[asked] ?? foundLater(known, asked)]),
    ) as Partial<Directories>;
    const surroundings = { ...shared, env, database, directories, identityKeys };
    const { service, close } = await open(surroundings, adapters as never);
    running.push(close);
    if ('directories' in service) Object.assign(known, service.directories);
    services[name] = service;
  }
  return services as Services;
};

/** Opens and starts every service; what must be stopped is pushed to `running`. */
export const startServices = async (
  options: ServicesOptions,
  running: (() => Promise<unknown>)[],
): Promise<Services> => {
  let started: Promise<void> | undefined;
  // The bus keeps nothing for who subscribes later; what a crash has left in an outbox is there at once.
  const publish: Bus['publish'] = async (event) => {
    await started;
    await options.bus.publish(event);
  };
  const services = await openServices({ ...options, bus: { ...options.bus, publish } }, running);
  const startAll = async () => {
    for (const service of Object.values(services)) {
      await service.start();
      running.push(() => service.stop());
    }
  };
  started = startAll();
  await started;
  return services;
};
