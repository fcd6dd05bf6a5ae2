import type { Bus, EventHandlers } from '@backlot/bus';
import type {
  DirectoryName,
  EventPayloads,
  events,
  ServiceName,
  ServiceOperations,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Finding, MountedRoute, ServiceApp, ServiceReadiness } from '@backlot/http';
import type { IdentityKey } from '@backlot/identity';
import type { Logger, MeasuredQueue, Registry, Tracer } from '@backlot/telemetry';
import type { Router } from 'express';
import type { SealStore } from './seals/sealed-column.ts';
import type { ConfigReader } from './settings/settings.ts';

/** What a service is built from, besides its adapters and the directories that it asks. */
export interface ServiceContext<Config> {
  config: Config;
  /** Of the schema named after the service, migrated. */
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** For what may be lost; all else goes through the outbox. */
  bus: Pick<Bus, 'publish'>;
  /** Of the gateway and of services that ask this one, and those that it asks with. */
  identityKeys: readonly IdentityKey[];
  /** What the operator does in this service. */
  operations: ServiceOperations;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  /** Metrics; none where nobody asks for them. */
  registry?: Registry | undefined;
  /** Traces; none where nobody asks for them. */
  tracer?: Tracer | undefined;
}

/** An event's id is unique for good: a handler that must act once remembers it. */
type Handlers = EventHandlers<typeof events, Promise<unknown>>;
type Listeners = EventHandlers<typeof events, void>;

export interface Sweep {
  run: () => Promise<unknown>;
  /** An hour unless stated. */
  everyMs?: number;
}

/** What a service says of itself; everything else is the same for all. */
export interface ServiceParts<Api extends object> {
  routes: readonly MountedRoute[];
  /** Paths under /internal, for the platform's own questions; others never reach them. */
  internal?: Router;
  /** Each event reaches one process of the service, at least once: queue `<service>.<topic>`. */
  subscriptions?: Handlers;
  /** Each event reaches every process that runs. For caches. */
  listeners?: Listeners;
  /** Each runs at start and then at its interval, never twice at once. */
  sweeps?: readonly Sweep[];
  /** Where it keeps what it has sealed under its master keys. */
  seals?: readonly SealStore[];
  /** What it shares out fairly; the metrics show them under these names. */
  queues?: Readonly<Record<string, MeasuredQueue>>;
  /** Before the first event and the first sweep. */
  start?(): Promise<unknown>;
  /** What it needs besides the database and events; each asked once a second, all at once. Undefined: nothing to say yet. */
  needs?: readonly (() => Promise<Finding | undefined>)[];
  /** The process is told to stop: answers that have no end are ended. */
  drain?(): void;
  /** Work under way ends; sweeps and events go on until it has. */
  stop?(): Promise<unknown>;
  /**
   * What the same process may call. As `directories` it has what the service answers for the gateway and
   * other services, who ask over HTTP from other processes.
   */
  api?: Api;
}

export interface Service {
  app: ServiceApp;
  /** What the operator does in it. */
  operations: ServiceOperations;
  /** What `/readyz` answers. */
  ready(): Promise<ServiceReadiness>;
  start(): Promise<void>;
  /** Ends answers that have no end; before calls under way are waited for. */
  drain(): void;
  stop(): Promise<void>;
}

export interface ServiceDefinition<
  Config,
  Context extends ServiceContext<Config>,
  Api extends object,
> {
  /** Also the schema of its tables and the prefix of its queues. */
  name: ServiceName;
  /** The folder of numbered SQL files. */
  migrations: URL;
  /** Tables that a Citus cluster spreads over its nodes by `project_id`, all of a project to one. */
  distributed?: readonly string[];
  /** Of its own settings; those of every process come with the process. */
  config: ConfigReader<Config>;
  /** Directories that it gets with the context. */
  asks?: readonly DirectoryName[];
  /** None of its tables has row-level security, so that its connections need not know of any project. */
  hasNoRowSecurity?: true;
  build(context: Context): ServiceParts<Api>;
}

/** The running service that a definition stands for. */
export type ServiceOf<Definition> =
  Definition extends ServiceDefinition<infer _Config, infer _Context, infer Api>
    ? Service & Api
    : never;

/** What a service has beside the context that all have: adapters of its own. */
export type Adapters<Context> = Omit<Context, keyof ServiceContext<unknown> | DirectoryName>;

export type ServiceDeps<Config, Context> = Omit<ServiceContext<Config>, 'outbox' | 'operations'> &
  Omit<Context, keyof ServiceContext<unknown>> & {
    bus: Bus;
    /** Validates answers against the contract; on in tests. */
    checkResponses: boolean;
  };

/** States a service; the types of its adapters and its API follow from what is stated. */
export const defineService = <
  Config,
  Context extends ServiceContext<Config>,
  Api extends object = object,
>(
  definition: ServiceDefinition<Config, Context, Api>,
) => definition;
