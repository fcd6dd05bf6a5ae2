import { type Bus, type EventHandlers, listenTo, subscribeTo } from '@backlot/bus';
import {
  type DirectoryName,
  type EventPayloads,
  events,
  type ServiceName,
} from '@backlot/contract';
import {
  createOutbox,
  createSweeper,
  type Database,
  type DatabaseTrouble,
  DatabaseUnavailable,
  type Outbox,
  writeConnections,
} from '@backlot/database';
import { connections, largeBodyWork, toRequester, WaitedTooLong } from '@backlot/fair-shares';
import {
  internalOnly,
  type MountedRoute,
  mergeReadiness,
  nothingMissing,
  type Readiness,
  type ServiceApp,
  type ServiceReadiness,
  serviceApp,
} from '@backlot/http';
import { gatewayKeys, type Identity, type IdentityKey } from '@backlot/identity';
import {
  countRepeats,
  type Logger,
  type MeasuredQueue,
  measureQueues,
  type Registry,
} from '@backlot/telemetry';
import { Router } from 'express';
import { measureEvents } from './event-metrics.ts';
import { createIdempotencyStore } from './idempotency/idempotency.ts';
import type { ConfigReader } from './settings.ts';

/** What a service is built from, besides its adapters and the directories that it asks. */
export interface ServiceContext<Config> {
  config: Config;
  /** Of the schema named after the service, migrated. */
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** Of the gateway and of services that ask this one, and those that it asks with. */
  identityKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  /** Metrics; none where nobody asks for them. */
  registry?: Registry | undefined;
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
  /** What it shares out fairly; the metrics show them under these names. */
  queues?: Readonly<Record<string, MeasuredQueue>>;
  /** Before the first event and the first sweep. */
  start?(): Promise<unknown>;
  /** What it misses besides the database; asked once a second. */
  ready?(): Promise<Readiness>;
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
  /** What `/readyz` answers. */
  ready(): Promise<ServiceReadiness>;
  start(): Promise<void>;
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

export type ServiceDeps<Config, Context> = Omit<ServiceContext<Config>, 'outbox'> &
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

/**
 * Work on large bodies that waits for the database, each on a connection: half of them, so that everybody
 * else's statements find one.
 */
const maxLargeBodiesWaiting = 4;

/**
 * Connections for writes and transactions of calls. First come, first served, 400 calls at once by 20 accounts
 * of one address that change their own name got a stranger's `/auth/me` 503 after 3 seconds.
 */
const writes = { places: writeConnections, perOwner: 6 };
/** As for a connection of the pool. */
const maxWaitMs = 3000;

type AnyHandler = (payload: object, eventId: string) => Promise<unknown>;

type Scopes = Pick<Database, 'inProject' | 'acrossProjects'>;

/** What is about one project reaches that one's rows alone. */
const inScope =
  ({ inProject, acrossProjects }: Scopes, handler: AnyHandler): AnyHandler =>
  (payload, eventId) => {
    const handle = () => handler(payload, eventId);
    return 'projectNumber' in payload && typeof payload.projectNumber === 'number'
      ? inProject(payload.projectNumber, handle)
      : acrossProjects(handle);
  };

const subscribe = async (
  name: ServiceName,
  bus: Bus,
  scopes: Scopes,
  parts: ServiceParts<object>,
) => {
  for (const [topic, handler] of Object.entries(parts.subscriptions ?? {}))
    await subscribeTo(bus, events, `${name}.${topic.replace('.', '-')}`, {
      [topic]: inScope(scopes, handler as AnyHandler),
    });
  await listenTo(bus, events, parts.listeners ?? {});
};

const databaseReadiness = (trouble: DatabaseTrouble | undefined): Readiness => {
  if (trouble === undefined) return nothingMissing;
  // All calls are served on the connections that there are.
  const where = trouble === 'connections_exhausted' ? 'degraded' : 'missing';
  return { ...nothingMissing, [where]: ['postgresql'], reasons: { postgresql: trouble } };
};

/** The service as an app, not yet started: no event is handled and no sweep runs before `start`. */
export const createService = <Config, Context extends ServiceContext<Config>, Api extends object>(
  definition: Pick<ServiceDefinition<Config, Context, Api>, 'name' | 'hasNoRowSecurity' | 'build'>,
  deps: ServiceDeps<Config, Context>,
): Service & Api => {
  const { database, bus, identityKeys, now, log, registry, checkResponses } = deps;
  const outbox = createOutbox<EventPayloads>(
    database,
    countRepeats((failure) => log.error(failure, 'events could not be published; retrying')),
    checkResponses ? (topic, payload) => events[topic].parse(payload) : undefined,
  );
  const idempotency = createIdempotencyStore(database, { now });
  const scopes: Scopes = definition.hasNoRowSecurity
    ? { inProject: (_number, work) => work(), acrossProjects: (work) => work() }
    : database;
  const parts = definition.build({ ...deps, outbox } as unknown as Context);
  const largeBodies = largeBodyWork(maxLargeBodiesWaiting);
  const freeConnections = connections(writes);
  const takeConnection = async (identity: Identity) => {
    try {
      return await freeConnections.take(toRequester(identity), { maxWaitMs });
    } catch (error) {
      if (!(error instanceof WaitedTooLong)) throw error;
      throw new DatabaseUnavailable('no connection was free in time', { cause: error });
    }
  };
  measureQueues(registry, { largeBodies, connections: freeConnections, ...parts.queues });
  measureEvents(registry, bus, database);
  const sweeps: Sweep[] = [{ run: () => idempotency.sweep() }, ...(parts.sweeps ?? [])];
  const sweepers = sweeps.map(({ run, everyMs }) =>
    createSweeper(
      () => database.acrossProjects(run),
      countRepeats((failure) => log.error(failure, 'sweep failed; it runs again')),
      everyMs,
    ),
  );
  const accepted = identityKeys.filter(({ receiver }) => receiver === definition.name);
  const internal = Router().use(internalOnly(accepted, now));
  if (parts.internal) internal.use(parts.internal);
  const ready = async (): Promise<ServiceReadiness> => {
    const { isServing, trouble } = await database.health();
    const own = isServing ? await scopes.acrossProjects(async () => parts.ready?.()) : undefined;
    const readiness = mergeReadiness([databaseReadiness(trouble), own ?? nothingMissing]);
    return { ...readiness, isServing };
  };
  const service: Service = {
    ready,
    app: serviceApp({
      routes: parts.routes,
      internal,
      ready,
      gatewayKeys: gatewayKeys(accepted, definition.name),
      idempotency,
      now,
      log,
      checkResponses,
      surround: (identity, work) =>
        database.inTurn(
          () => takeConnection(identity),
          () => scopes.inProject(identity.project.number, work),
        ),
      inTurnForLargeBody: ({ identity, signal }, work) =>
        largeBodies.run(toRequester(identity), work, { signal }),
    }),
    async start() {
      await scopes.acrossProjects(async () => parts.start?.());
      await subscribe(definition.name, bus, scopes, parts);
      outbox.start((event) => bus.publish(event));
      for (const sweeper of sweepers) sweeper.start();
    },
    async stop() {
      await scopes.acrossProjects(async () => parts.stop?.());
      await Promise.all([...sweepers, outbox].map((part) => part.stop()));
    },
  };
  return Object.assign(service, parts.api);
};
