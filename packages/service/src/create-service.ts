import { type EventPayloads, events, type ServiceOperations } from '@backlot/contract';
import {
  createOutbox,
  createSweeper,
  type DatabaseTrouble,
  DatabaseUnavailable,
  writeConnections,
} from '@backlot/database';
import { connections, largeBodyWork, toRequester, WaitedTooLong } from '@backlot/fair-shares';
import {
  type Finding,
  internalOnly,
  rememberSince,
  type ServiceReadiness,
  serviceApp,
} from '@backlot/http';
import { gatewayKeys, type Identity } from '@backlot/identity';
import { countRepeats, createHttpMetrics, currentOrigin, measureQueues } from '@backlot/telemetry';
import { Router } from 'express';
import { createActLog } from './act-log.ts';
import type {
  Service,
  ServiceContext,
  ServiceDefinition,
  ServiceDeps,
  Sweep,
} from './define-service.ts';
import { createIdempotencyStore } from './idempotency/idempotency.ts';
import { createInCall, inOrigin } from './in-call.ts';
import { measureEvents } from './metrics/event-metrics.ts';
import { measurePools } from './metrics/pool-metrics.ts';
import { operationsRouter } from './operations.ts';
import { createParkedEvents } from './parked-events/parked-events.ts';
import { findBus } from './process/bus.ts';
import { measureSeals } from './seals/seal-metrics.ts';
import { createSeals } from './seals/seals.ts';
import { queueFor, type Scopes, subscribe } from './subscribe.ts';
import { withOrigins, withTraces } from './trace-steps.ts';

/**
 * Work on large bodies that waits for the database, each on a connection: half of them, so that everybody
 * else's statements find one.
 */
const maxLargeBodiesWaiting = 4;

/**
 * Connections for writes and transactions of calls, fair by owner and address: first come, first served, the
 * accounts of one address kept strangers from all of them.
 */
const writes = { places: writeConnections, perOwner: 6 };
/** As for a connection of the pool. */
const maxWaitMs = 3000;

/** What a broker has parked while nobody could keep it is taken over so often. */
const parkedTakenMs = 10_000;

const findDatabase = (trouble: DatabaseTrouble | undefined): Finding => {
  const name = 'postgresql';
  if (trouble === undefined) return { name, state: 'works' };
  // All calls are served on the connections that there are.
  const state = trouble === 'connections_exhausted' ? 'degraded' : 'missing';
  return { name, state, reason: trouble };
};

/** The service as an app, not yet started: no event is handled and no sweep runs before `start`. */
export const createService = <Config, Context extends ServiceContext<Config>, Api extends object>(
  definition: Pick<ServiceDefinition<Config, Context, Api>, 'name' | 'hasNoRowSecurity' | 'build'>,
  deps: ServiceDeps<Config, Context>,
): Service & Api => {
  const { identityKeys, now, log, registry, tracer, checkResponses } = deps;
  const database = withTraces(deps.database, tracer);
  const bus = withOrigins(deps.bus, log, tracer);
  const inCall = createInCall(definition.name, log, tracer);
  const outbox = createOutbox<EventPayloads>(
    database,
    countRepeats((failure) => log.error(failure, 'events could not be published; retrying')),
    checkResponses ? (topic, payload) => events[topic].parse(payload) : undefined,
    currentOrigin,
  );
  const idempotency = createIdempotencyStore(database, { now });
  const scopes: Scopes = definition.hasNoRowSecurity
    ? { inProject: (_number, work) => work(), acrossProjects: (work) => work() }
    : database;
  const parked = createParkedEvents({ database, scopes, bus, now });
  // The service is built with it, and names what it has sealed.
  const seals = () => createSeals(parts.seals ?? [], scopes);
  const operations: ServiceOperations = {
    ...parked,
    countSealed: () => seals().count(),
    reseal: () => seals().reseal(),
  };
  const parts = definition.build({
    ...deps,
    database,
    bus,
    outbox,
    operations,
  } as unknown as Context);
  const queues = Object.keys(parts.subscriptions ?? {}).map((topic) =>
    queueFor(definition.name, topic),
  );
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
  measureEvents(registry, bus, database, parked);
  measurePools(registry, database.pools);
  const http = registry && createHttpMetrics(registry);
  if (parts.seals) measureSeals(registry, operations);
  const sweeps: Sweep[] = [
    { run: () => idempotency.sweep() },
    { run: () => parked.takeAll(queues), everyMs: parkedTakenMs },
    ...(parts.sweeps ?? []),
  ];
  const sweepers = sweeps.map(({ run, everyMs }) =>
    createSweeper(
      () => database.acrossProjects(run),
      countRepeats((failure) => log.error(failure, 'sweep failed; it runs again')),
      everyMs,
    ),
  );
  const accepted = identityKeys.filter(({ receiver }) => receiver === definition.name);
  const internal = Router().use(internalOnly(accepted, now), inOrigin);
  internal.use('/operations', operationsRouter(operations));
  if (parts.internal) internal.use(parts.internal);
  const sinceWhen = rememberSince(now);
  const findNeeds = () =>
    scopes.acrossProjects(() => Promise.all((parts.needs ?? []).map((find) => find())));
  const ready = async (): Promise<ServiceReadiness> => {
    const { isServing, trouble } = await database.health();
    const findings = [findDatabase(trouble), ...findBus(bus)];
    if (isServing) findings.push(...(await findNeeds()).filter((found) => found !== undefined));
    return { isServing, dependencies: sinceWhen(findings) };
  };
  const service: Service = {
    operations,
    ready,
    app: serviceApp({
      routes: parts.routes,
      internal,
      ready,
      gatewayKeys: gatewayKeys(accepted, definition.name),
      idempotency,
      acts: createActLog({ service: definition.name, database, outbox, now }),
      now,
      log,
      checkResponses,
      ...(http && { observe: http.observe }),
      surround: (call, work) =>
        inCall(call, () => {
          const { identity, taken } = call;
          return database.inTurn(
            () => takeConnection(identity),
            () => scopes.inProject(identity.project.number, work),
            taken,
          );
        }),
      inTurnForLargeBody: ({ identity, signal }, work) =>
        largeBodies.run(toRequester(identity), work, { signal }),
    }),
    async start() {
      await scopes.acrossProjects(async () => parts.start?.());
      await subscribe(definition.name, bus, scopes, parts, parked);
      outbox.start((event) => bus.publish(event));
      for (const sweeper of sweepers) sweeper.start();
    },
    drain: () => parts.drain?.(),
    async stop() {
      await scopes.acrossProjects(async () => parts.stop?.());
      await Promise.all([...sweepers, outbox].map((part) => part.stop()));
    },
  };
  const { directories = {}, ...api } = (parts.api ?? {}) as { directories?: object };
  return Object.assign(service, api as Api, {
    directories: { ...directories, [`${definition.name}Operations`]: operations },
  });
};
