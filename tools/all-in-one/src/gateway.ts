import type { Bus } from '@backlot/bus';
import { openApiDocument, routes, type ServiceName, serviceNames } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import {
  createGateway,
  createHttpUpstreams,
  createInProcessUpstream,
  type Gateway,
  type GatewayDeps,
  hashToken,
  type Upstream,
} from '@backlot/gateway';
import { createHttpDirectories, serve } from '@backlot/http';
import { gatewayName, type IdentityKey } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { PlatformConfig } from './config.ts';
import { identityKeysFor } from './identity-keys.ts';
import type { Services } from './services.ts';

export interface GatewayOptions {
  config: PlatformConfig;
  services: Services;
  counters: Counters;
  bus: Bus;
  operatorToken: string;
  publicUrl: string;
  /** The gateway's keys are made from it. */
  identityRoot: string;
  now: () => number;
  log: Logger;
  refusalClock?: NonNullable<GatewayDeps['refusalClock']>;
}

type Running = (() => Promise<unknown>)[];

const inProcess = (services: Services) => {
  const entries = serviceNames.map((name) => [name, createInProcessUpstream(services[name].app)]);
  return {
    upstreams: Object.fromEntries(entries) as Record<ServiceName, Upstream>,
    ...services.auth.directories,
    ...services.projects.directories,
    ...services.records.directories,
  };
};

/** Each service on a port of its own: what separate processes look like to the gateway. */
const overHttp = async (
  services: Services,
  shared: { identityKeys: readonly IdentityKey[]; now: () => number },
  running: Running,
) => {
  const origins: Partial<Record<ServiceName, string>> = {};
  for (const name of serviceNames) {
    const { port, stop } = await serve(services[name].app, { port: 0, host: '127.0.0.1' });
    running.push(stop);
    origins[name] = `http://127.0.0.1:${port}`;
  }
  return {
    upstreams: createHttpUpstreams(origins as Record<ServiceName, string>),
    ...createHttpDirectories(
      ['projects', 'credits', 'callLog', 'operators', 'hosts', 'sessions', 'users', 'shapes'],
      origins,
      shared,
    ),
  };
};

/** The gateway in front of these services, started. */
export const assembleGateway = async (
  options: GatewayOptions,
  running: Running,
): Promise<Gateway> => {
  const { config, services, operatorToken, publicUrl } = options;
  const identityKeys = identityKeysFor(gatewayName, options.identityRoot);
  const reach =
    config.upstreams === 'http'
      ? await overHttp(services, { identityKeys, now: options.now }, running)
      : inProcess(services);
  const gateway = createGateway({
    ...options,
    identityKeys,
    ...reach,
    apiDescription: openApiDocument(routes, config.gateway.priceChanges),
    eventsConnected: () => true,
    services: () =>
      Promise.all(
        serviceNames.map(async (service) => {
          const { isServing, dependencies } = await services[service].ready();
          return { service, dependencies, ...(!isServing && { reason: 'not_ready' }) };
        }),
      ),
    servers: () => [],
    config: { ...config.gateway, operatorTokenHash: hashToken(operatorToken), publicUrl },
  });
  await gateway.start();
  running.push(() => gateway.stop());
  return gateway;
};
