import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Bus } from '@backlot/bus';
import { openApiDocument, routes } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import { createGateway, createHttpUpstreams, createInProcessUpstream } from '@backlot/gateway';
import { createHttpDirectories, serve } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { PlatformConfig } from './config.ts';
import type { Services } from './services.ts';

export interface GatewayOptions {
  config: PlatformConfig;
  services: Services;
  counters: Counters;
  bus: Bus;
  operatorToken: string;
  publicUrl: string;
  identitySecret: IdentitySecret;
  now: () => number;
  log: Logger;
}

type Running = (() => Promise<unknown>)[];

const inProcess = ({ auth, records, projects, ai, storage, email, payments }: Services) => ({
  upstreams: {
    auth: createInProcessUpstream(auth.app),
    records: createInProcessUpstream(records.app),
    projects: createInProcessUpstream(projects.app),
    ai: createInProcessUpstream(ai.app),
    storage: createInProcessUpstream(storage.app),
    email: createInProcessUpstream(email.app),
    payments: createInProcessUpstream(payments.app),
  },
  projects: projects.directory,
  credits: {
    loadOwner: async (ownerId: string) => void (await projects.credits.loadOwner(ownerId)),
  },
  sessions: auth.sessions,
});

/** Each service on a port of its own: what separate processes look like to the gateway. */
const overHttp = async (services: Services, options: GatewayOptions, running: Running) => {
  const listen = async (name: keyof Services) => {
    const { port, stop } = await serve(services[name].app, { port: 0, host: '127.0.0.1' });
    running.push(stop);
    return `http://127.0.0.1:${port}`;
  };
  const origins = {
    auth: await listen('auth'),
    records: await listen('records'),
    projects: await listen('projects'),
    ai: await listen('ai'),
    storage: await listen('storage'),
    email: await listen('email'),
    payments: await listen('payments'),
  };
  return {
    upstreams: createHttpUpstreams(origins),
    ...createHttpDirectories(origins, options),
  };
};

/** The gateway in front of these services, started. */
export const assembleGateway = async (
  options: GatewayOptions,
  running: Running,
): Promise<RequestListener> => {
  const { config, services, operatorToken, publicUrl } = options;
  const reach =
    config.upstreams === 'http' ? await overHttp(services, options, running) : inProcess(services);
  const gateway = createGateway({
    ...options,
    ...reach,
    apiDescription: openApiDocument(routes),
    hears: () => true,
    missing: async () => [],
    degraded: () => [],
    config: {
      issuer: 'backlot',
      operatorTokenHash: createHash('sha256').update(operatorToken).digest('base64url'),
      trustedProxies: config.trustedProxies,
      publicUrl,
      accessLog: config.logLevel === 'debug',
    },
  });
  await gateway.start();
  running.push(() => gateway.stop());
  return gateway.app;
};
