import type { RequestListener } from 'node:http';
import { longestCallMs, openApiDocument, routes } from '@backlot/contract';
import { createFallbackCounters, createMemoryCounters, withRefusalCache } from '@backlot/counters';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { busyLingerMs, createHttpDirectories, createSilenceGuards, serve } from '@backlot/http';
import {
  type Environment,
  endOnFault,
  endOnSignal,
  findBus,
  openBus,
  redisSteps,
  reportRefusal,
  stopOnSignal,
} from '@backlot/service';
import {
  countRepeats,
  createLogger,
  createRegistry,
  type Logger,
  metricsListener,
  openTracing,
  type Tracer,
} from '@backlot/telemetry';
import { type ProcessConfig, parseConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { healthOfServices } from './health/services.ts';
import { createHttpUpstreams } from './upstream/http.ts';

/** Each call ends with its own time-out before that. */
const drainMarginMs = 2000;

const createCounters = (config: ProcessConfig, log: Logger, tracer: Tracer | undefined) => {
  const redis = connectRedis(config.redisUrl, {
    commandTimeoutMs: config.redisTimeoutMs,
    onError: countRepeats((failure) => log.warn(failure, 'Redis')),
    onRefusal: reportRefusal(log, 'Redis', 'REDIS_URL'),
    step: redisSteps(tracer),
  });
  return createFallbackCounters({
    shared: withRefusalCache(
      createRedisCounters(redis, { reservationTtlMs: config.reservationTtlMs }),
      performance.now.bind(performance),
    ),
    local: createMemoryCounters(Date.now),
    now: Date.now,
    onChange: (degraded, err) => log.warn({ degraded, err }, 'limits'),
  });
};

/**
 * The gateway as a process of its own, until a signal ends it.
 * @param wrap what answers ahead of it
 */
export const runGateway = async (
  env: Environment,
  wrap = (app: RequestListener): RequestListener => app,
) => {
  const keepRunning = endOnSignal();
  const config = parseConfig(env);
  const log = createLogger({ service: 'gateway', level: config.logLevel });
  endOnFault(log);
  const registry = createRegistry('gateway');
  const shared = { identityKeys: config.identityKeys, now: Date.now, log };
  const tracer = await openTracing({ service: 'gateway', ...config.tracing });
  const counters = createCounters(config, log, tracer);
  const guards = createSilenceGuards(config.origins, log);
  let forget = () => {};
  const bus = await openBus(config.amqpUrl, log, (connected) => connected && forget());
  const gateway = createGateway({
    ...shared,
    bus,
    counters,
    registry,
    tracer,
    config: config.gateway,
    ...createHttpDirectories(
      ['projects', 'credits', 'callLog', 'operators', 'hosts', 'sessions', 'users', 'shapes'],
      config.origins,
      shared,
      guards,
    ),
    upstreams: createHttpUpstreams(config.origins, guards),
    apiDescription: openApiDocument(routes, config.gateway.priceChanges),
    eventsConnected: bus.connected,
    services: async () => {
      const looks = healthOfServices(config.origins, shared);
      // A gateway without calls notices by nothing else that Redis is away.
      await counters.admit([]);
      return looks;
    },
    servers: () => [
      ...findBus(bus),
      {
        name: 'redis',
        state: counters.degraded() ? 'degraded' : 'works',
        ...(counters.refused() && { reason: 'refuses_user' }),
      },
    ],
  });
  forget = gateway.forget;
  await gateway.start();
  const { host, metricsPort } = config;
  const listening = await serve(wrap(gateway.app), {
    port: config.port,
    host,
    acceptConnection: gateway.acceptConnection,
    drainMs: longestCallMs() + drainMarginMs,
    lingerMs: busyLingerMs,
  });
  const metrics =
    metricsPort === undefined
      ? undefined
      : await serve(metricsListener(registry), { port: metricsPort, host });
  keepRunning();
  stopOnSignal(async (cut) => {
    gateway.drain();
    await listening.stop(cut);
    await metrics?.stop();
    await gateway.stop();
    await Promise.all([counters.close(), bus.close()]);
    await tracer?.stop();
  }, log);
  log.info({ port: listening.port }, 'listening');
};
