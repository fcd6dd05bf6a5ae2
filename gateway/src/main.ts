import { openApiDocument, routes } from '@backlot/contract';
import { createFallbackCounters, createMemoryCounters, withRefusals } from '@backlot/counters';
import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { createHttpDirectories, serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { openBus, stopOnSignal } from '@backlot/process';
import { createLogger, createRegistry, metricsListener } from '@backlot/telemetry';
import { parseConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { missingServices } from './pages/readiness.ts';
import { createHttpUpstreams } from './upstream/http.ts';

const config = parseConfig(process.env);
const log = createLogger({ service: 'gateway', level: config.logLevel });
const registry = createRegistry('gateway');
const shared = { identitySecret: identitySecret(config.identitySecret), now: Date.now, log };
const redis = connectRedis(config.redisUrl, {
  commandTimeoutMs: config.redisTimeoutMs,
  onError: (err) => log.warn({ err }, 'Redis'),
});
const counters = createFallbackCounters({
  shared: withRefusals(
    createRedisCounters(redis, { reservationTtlMs: config.reservationTtlMs }),
    performance.now.bind(performance),
  ),
  local: createMemoryCounters(Date.now),
  now: Date.now,
  onChange: (degraded, err) => log.warn({ degraded, err }, 'limits'),
});
let forget = () => {};
const bus = await openBus(config.amqpUrl, log, (connected) => connected && forget());
const gateway = createGateway({
  ...{ ...shared, bus, counters, registry, config: config.gateway },
  ...createHttpDirectories(config.origins, shared),
  upstreams: createHttpUpstreams(config.origins),
  apiDescription: openApiDocument(routes),
  hears: bus.connected,
  missing: () => missingServices(config.origins),
  degraded: () => [
    ...(bus.connected() ? [] : ['events']),
    ...(counters.degraded() ? ['limits'] : []),
  ],
});
forget = gateway.forget;
await gateway.start();
const listening = await serve(gateway.app, { port: config.port });
const metrics =
  config.metricsPort === undefined
    ? undefined
    : await serve(metricsListener(registry), { port: config.metricsPort });
log.info({ port: listening.port }, 'listening');
stopOnSignal(async () => {
  for (const each of [listening, metrics, gateway]) await each?.stop();
  await Promise.all([counters.close(), bus.close()]);
}, log);
