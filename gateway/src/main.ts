import { longestCallMs, openApiDocument, routes } from '@backlot/contract';
import { createFallbackCounters, createMemoryCounters, withRefusalCache } from '@backlot/counters';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { createHttpDirectories, createSilenceGuards, serve } from '@backlot/http';
import { endOnFault, endOnSignal, openBus, stopOnSignal } from '@backlot/service';
import { countRepeats, createLogger, createRegistry, metricsListener } from '@backlot/telemetry';
import { parseConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { readinessOfServices } from './pages/readiness.ts';
import { createHttpUpstreams } from './upstream/http.ts';

/** Each call ends with its own time-out before that. */
const drainMarginMs = 2000;

const keepRunning = endOnSignal();
const config = parseConfig(process.env);
const log = createLogger({ service: 'gateway', level: config.logLevel });
endOnFault(log);
const registry = createRegistry('gateway');
const shared = { identityKeys: config.identityKeys, now: Date.now, log };
const redis = connectRedis(config.redisUrl, {
  commandTimeoutMs: config.redisTimeoutMs,
  onError: countRepeats((failure) => log.warn(failure, 'Redis')),
});
const counters = createFallbackCounters({
  shared: withRefusalCache(
    createRedisCounters(redis, { reservationTtlMs: config.reservationTtlMs }),
    performance.now.bind(performance),
  ),
  local: createMemoryCounters(Date.now),
  now: Date.now,
  onChange: (degraded, err) => log.warn({ degraded, err }, 'limits'),
});
const guards = createSilenceGuards(config.origins, log);
let forget = () => {};
const bus = await openBus(config.amqpUrl, log, (connected) => connected && forget());
const gateway = createGateway({
  ...shared,
  bus,
  counters,
  registry,
  config: config.gateway,
  ...createHttpDirectories(
    ['projects', 'credits', 'sessions', 'shapes'],
    config.origins,
    shared,
    guards,
  ),
  upstreams: createHttpUpstreams(config.origins, guards),
  apiDescription: openApiDocument(routes, config.gateway.priceChanges),
  eventsConnected: bus.connected,
  ready: () => readinessOfServices(config.origins, shared),
  degraded: () => [
    ...(bus.connected() ? [] : ['events']),
    ...(counters.degraded() ? ['limits'] : []),
  ],
});
forget = gateway.forget;
await gateway.start();
const { host, metricsPort } = config;
const listening = await serve(gateway.app, {
  port: config.port,
  host,
  acceptConnection: gateway.acceptConnection,
  drainMs: longestCallMs() + drainMarginMs,
});
const metrics =
  metricsPort === undefined
    ? undefined
    : await serve(metricsListener(registry), { port: metricsPort, host });
keepRunning();
stopOnSignal(async (cut) => {
  await listening.stop(cut);
  await metrics?.stop();
  await gateway.stop();
  await Promise.all([counters.close(), bus.close()]);
}, log);
log.info({ port: listening.port }, 'listening');
