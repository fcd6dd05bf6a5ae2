/** A gateway with one route that takes a large body, in front of a service that throws it away. */

import { createServer } from 'node:http';
import { identityKeysFor } from '@backlot/all-in-one';
import { createInProcessBus } from '@backlot/bus';
import { defaultLimits, defineRoute, MIB, type ServiceName } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { createGateway, createHttpUpstream, defaultAddressBounds } from '@backlot/gateway';
import { gatewayName } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import { z } from 'zod';

const upload = defineRoute({
  operationId: 'upload',
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  path: '/upload',
  takes: 'bytes',
  summary: 'Takes anything',
  callers: ['anonymous'],
  limit: 'upload',
  body: z.unknown(),
  bodyLimitBytes: 1024 * MIB,
  response: z.unknown(),
  status: 200,
  errors: [],
});

const [port = '', service = ''] = process.argv.slice(2);
const upstream = createHttpUpstream(service);
const counters = createMemoryCounters(Date.now);
const services = ['auth', 'records', 'ai', 'storage', 'email', 'payments', 'projects'] as const;
const project = { id: 'demo', number: 1001, name: 'Demo', ownerId: null, settings: {} };
const gateway = createGateway({
  upstreams: Object.fromEntries(services.map((name) => [name, upstream])) as Record<
    ServiceName,
    typeof upstream
  >,
  projects: {
    findProject: async () => ({ ...project, status: 'active', limits: defaultLimits }),
    findKey: async () => null,
  },
  sessions: { findSession: async () => null, jwks: async () => ({ keys: [] }) },
  users: { findRoleAndGroups: async () => null, findHolder: async () => null },
  credits: { noteRefusal: async () => {}, loadOwner: async () => {} },
  callLog: { takeCalls: async () => {} },
  operators: { findOperator: async () => null },
  hosts: { findHost: async () => null },
  shapes: { describe: async () => [] },
  counters,
  bus: createInProcessBus({ onDead: () => {} }),
  identityKeys: identityKeysFor(gatewayName, 'only this bench'),
  now: Date.now,
  log: createLogger({ service: 'bench', level: 'error' }),
  config: {
    issuer: 'backlot',
    operatorTokenHash: undefined,
    trustedProxies: 0,
    addressBounds: defaultAddressBounds,
    publicUrl: 'http://localhost',
    accessLog: false,
    priceChanges: {},
    projectHostSuffix: undefined,
  },
  apiDescription: {},
  eventsConnected: () => true,
  services: async () => [],
  servers: () => [],
  routes: [upload],
});
await gateway.start();
createServer(gateway.app).listen(Number(port));
