import type { RequestListener } from 'node:http';
import {
  defineRoute,
  type ProjectSettings,
  type RouteDefinition,
  type Tariff,
  usageHeader,
} from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { type Identity, identityHeader } from '@backlot/identity';
import { readIdentity, serveForTest } from '@backlot/testing';
import { z } from 'zod';
import { createHttpUpstream } from '../upstream/http.ts';
import {
  type CallOptions,
  createTestBed,
  ownerId,
  projectSnapshot,
  type TestBed,
  type TestBedOptions,
} from './test-bed.ts';
import { withHealth } from './with-health.ts';

export const thousandTokens = {
  operationId: 'think',
  quantity: 'tokens',
  unitSize: 1000,
  chargesStartedUnits: false,
  millicreditsPerUnit: 1000,
  minimumUnits: 1,
} as const satisfies Tariff;

export const priced = defineRoute({
  operationId: 'think',
  service: 'ai',
  plane: 'runtime',
  method: 'POST',
  path: '/ai',
  summary: 'A priced call',
  callers: ['anonymous', 'user'],
  limit: 'ai',
  price: {
    ...thousandTokens,
    needsBody: true,
    worstCase: ({ body }) => Number((body as { most?: number } | undefined)?.most ?? 9000),
  },
  body: z.object({}),
  bodyLimitBytes: 1000,
  response: z.object({}),
  status: 200,
  errors: [],
});

const { body: _json, ...withoutBody } = priced;
/** The same call with bytes of any kind, which the service needs whole. */
export const pricedBytes: RouteDefinition = {
  ...withoutBody,
  takes: 'bytes',
  bodyLimitBytes: 10_000_000,
  price: { ...thousandTokens, needsBody: false, endsWithCaller: true, worstCase: () => 3000 },
};

interface Served {
  body: string;
  reservation: Identity['reservation'];
}

/** A gateway with one priced route, and the service behind it. */
export const createPricedCalls = () => {
  let bed: TestBed;
  const served: Served[] = [];

  /** A service that reads its body and then answers as told. */
  const service =
    (answer: (send: (status: number, used?: number) => void) => void): (() => RequestListener) =>
    () =>
    (req, res) => {
      const identity = readIdentity(req.headers[identityHeader]);
      let body = '';
      req.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        served.push({ body, reservation: identity.reservation });
        answer((status, used) => {
          res.writeHead(status, {
            'Content-Type': 'application/json',
            ...(used === undefined ? {} : { [usageHeader]: String(used) }),
          });
          res.end('{}');
        });
      });
    };
  /** On a port of its own, or in the gateway's process. */
  const upstreams = {
    'in-process': undefined,
    http: async (app: RequestListener) => {
      const { url, stop } = await serveForTest(withHealth(app));
      const upstream = createHttpUpstream(url);
      return {
        ...upstream,
        close() {
          upstream.close();
          void stop();
        },
      };
    },
  };
  const whereNames = Object.keys(upstreams) as (keyof typeof upstreams)[];
  const over = (where: keyof typeof upstreams): TestBedOptions => {
    const upstream = upstreams[where];
    return upstream ? { upstream } : {};
  };

  /** Visitors may spend all, unless the settings of the project say otherwise. */
  const generous: ProjectSettings = {
    aiPerVisitorPerDay: 1_000_000,
    visitorCreditsPerDay: 1_000_000,
  };
  const start = async (
    balance: number,
    options: TestBedOptions,
    settings: ProjectSettings = generous,
  ) => {
    served.length = 0;
    const counters = createMemoryCounters(Date.now);
    bed = await createTestBed({
      ...options,
      deps: {
        routes: [priced],
        counters,
        credits: {
          noteRefusal: async () => {},
          loadOwner: () => counters.load(ownerId, balance, 1),
        },
        ...options.deps,
      },
    });
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, settings }));
    return counters;
  };
  const think = (body: object | string = { most: 1000 }, options: CallOptions = {}) =>
    bed.call('POST', '/api/runtime/demo/ai', { body, ...options });

  return {
    served,
    service,
    whereNames,
    over,
    start,
    think,
    bed: () => bed,
    close: () => bed.close(),
  };
};
