import { createInProcessBus } from '@backlot/bus';
import { openApiDocument, routes } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { createLogger, createRegistry } from '@backlot/telemetry';
import { parseConfig } from './config.ts';
import {
  createHttpCreditDirectory,
  createHttpProjectDirectory,
  createHttpSessionDirectory,
} from './directory/http.ts';
import { createGateway } from './gateway.ts';
import { metricsListener } from './pages/metrics.ts';
import { missingServices } from './pages/readiness.ts';
import { createHttpUpstreams } from './upstream/http.ts';

const {
  port,
  metricsPort,
  logLevel,
  origins,
  gateway: config,
  identitySecret: secretText,
} = parseConfig(process.env);
const log = createLogger({ service: 'gateway', level: logLevel });
const registry = createRegistry('gateway');
const secret = identitySecret(secretText);
const bus = createInProcessBus({
  onDead: (event, queue) => log.error({ event, queue }, 'gave an event up'),
});
const counters = createMemoryCounters(Date.now);
const asked = { identitySecret: secret, now: Date.now };
const gateway = createGateway({
  upstreams: createHttpUpstreams(origins),
  projects: createHttpProjectDirectory({ ...asked, origin: origins.projects }),
  sessions: createHttpSessionDirectory({ ...asked, origin: origins.auth }),
  credits: createHttpCreditDirectory({ ...asked, origin: origins.projects }),
  ...{ counters, bus, config, log, registry, ...asked },
  apiDescription: openApiDocument(routes),
  missing: () => missingServices(origins),
});
await gateway.start();
const listening = await serve(gateway.app, { port });
const metrics =
  metricsPort === undefined
    ? undefined
    : await serve(metricsListener(registry), { port: metricsPort });
log.info({ port: listening.port }, 'listening');

const stop = async () => {
  for (const each of [listening, metrics, gateway]) await each?.stop();
  await Promise.all([counters.close(), bus.close()]);
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
