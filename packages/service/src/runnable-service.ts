import type { Bus } from '@backlot/bus';
import {
  type Directories,
  type DirectoryName,
  directoryServices,
  type ServiceName,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { IdentityKey } from '@backlot/identity';
import type { Logger, Registry, Tracer } from '@backlot/telemetry';
import { createService } from './create-service.ts';
import type {
  Adapters,
  Service,
  ServiceContext,
  ServiceDefinition,
  ServiceDeps,
} from './define-service.ts';
import type { ConfigReader, Environment } from './settings/settings.ts';

/** What a process, or the one process of all, gives to each service. */
export interface Surroundings {
  env: Environment;
  database: Database;
  bus: Bus;
  /** At least those that the service asks. */
  directories: Partial<Directories>;
  identityKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  registry?: Registry;
  tracer?: Tracer | undefined;
  checkResponses: boolean;
}

export interface AdapterOptions<Config, Api> {
  config: Config;
  log: Logger;
  tracer: Tracer | undefined;
  /** The service that gets them; not before it has been created. */
  service(): Service & Api;
}

/** Closed once the service has handled its last event. */
export type OpenedAdapters<A> = A & { close?(): Promise<unknown> };

export interface RunnableService<Api extends object, A extends object> {
  name: ServiceName;
  migrations: URL;
  /** Tables that a Citus cluster spreads over its nodes by `project_id`. */
  distributed: readonly string[] | undefined;
  /** Of its own settings. */
  config: ConfigReader<unknown>;
  /** Services that it asks something at once. */
  asks: readonly DirectoryName[];
  /**
   * The service with the adapters that its settings ask for, unless others are given.
   * @throws Error that names each wrong setting
   */
  open(
    surroundings: Surroundings,
    adapters?: A,
  ): Promise<{ service: Service & Api; close(): Promise<unknown> }>;
}

/** A service together with the choice of its adapters: what a main.ts runs. */
export const runnable = <Config, Context extends ServiceContext<Config>, Api extends object>(
  definition: ServiceDefinition<Config, Context, Api>,
  openAdapters: (
    options: AdapterOptions<Config, Api>,
  ) => OpenedAdapters<Adapters<Context>> | Promise<OpenedAdapters<Adapters<Context>>>,
): RunnableService<Api, Adapters<Context>> => ({
  name: definition.name,
  migrations: definition.migrations,
  distributed: definition.distributed,
  config: definition.config,
  asks: definition.asks ?? [],
  async open({ env, directories, ...shared }, given) {
    const config = definition.config.read(env);
    let service: (Service & Api) | undefined;
    const adapters: OpenedAdapters<Adapters<Context>> =
      given ??
      (await openAdapters({
        config,
        log: shared.log,
        tracer: shared.tracer,
        service() {
          if (!service) throw new Error(`${definition.name} is not there yet.`);
          return service;
        },
      }));
    const deps = { ...shared, ...directories, ...adapters, config };
    service = createService(definition, deps as unknown as ServiceDeps<Config, Context>);
    return { service, close: async () => adapters.close?.() };
  },
});

/** The services behind these directories. */
export const servicesBehind = (names: readonly DirectoryName[]): ServiceName[] => [
  ...new Set(names.map((name) => directoryServices[name])),
];
