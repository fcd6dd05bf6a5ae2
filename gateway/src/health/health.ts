import type { ServerResponse } from 'node:http';
import { describeEffect, healthRoutes, type RouteResponse } from '@backlot/contract';
import {
  type Dependency,
  type DependencyState,
  type Finding,
  rememberSince,
  shareLook,
  withTimeout,
} from '@backlot/http';
import { Gauge, type Registry } from '@backlot/telemetry';

const definition = healthRoutes.getHealth;

export type Health = RouteResponse<typeof definition>;
type ShownDependency = Health['dependencies'][number];

/** What a service says of itself. */
export interface ServiceHealth {
  service: string;
  dependencies: readonly Dependency[];
  /** Why it serves nothing, in one word; absent where it serves. */
  reason?: string;
}

interface Seen extends Dependency {
  seenBy: string;
}

export interface HealthOptions {
  /** Of the services. A look costs a call to each, and whoever asks needs no credential: once a second. */
  services(): Promise<readonly ServiceHealth[]>;
  /** What the gateway itself needs; asked at any time. */
  servers(): readonly Finding[];
  /** Epoch milliseconds. */
  now: () => number;
  registry: Registry | undefined;
}

export interface HealthLooks {
  look(): Promise<Health>;
  answer(res: ServerResponse): Promise<void>;
}

const lookTimeoutMs = 5000;

const ranks: Readonly<Record<DependencyState, number>> = { works: 0, degraded: 1, missing: 2 };
const shares: Readonly<Record<DependencyState, number>> = { works: 1, degraded: 0.5, missing: 0 };

const worst = (states: readonly DependencyState[]): DependencyState =>
  states.reduce((worse, state) => (ranks[state] > ranks[worse] ? state : worse), 'works');

/** One that works does so since the last process found it; one that does not, since the first. */
const merge = (name: string, seen: readonly Seen[]): ShownDependency => {
  const state = worst(seen.map((one) => one.state));
  const telling = seen.filter((one) => one.state === state);
  const times = telling.map(({ since }) => since).sort();
  const reason = telling.find((one) => one.reason !== undefined)?.reason;
  return {
    name,
    state,
    since: (state === 'works' ? times.at(-1) : times[0]) ?? '',
    ...(reason !== undefined && { reason }),
    ...(state !== 'works' && { affects: describeEffect(name, reason) }),
    seenBy: telling.map(({ seenBy }) => seenBy),
  };
};

const mergeAll = (seen: readonly Seen[]): Health => {
  const byName = Map.groupBy(seen, ({ name }) => name);
  const dependencies = [...byName].map(([name, of]) => merge(name, of));
  dependencies.sort((a, b) => ranks[b.state] - ranks[a.state] || (a.name < b.name ? -1 : 1));
  return { state: worst(dependencies.map(({ state }) => state)), dependencies };
};

const toFinding = ({ service, reason }: ServiceHealth): Finding =>
  reason === undefined
    ? { name: service, state: 'works' }
    : { name: service, state: 'missing', reason };

/** What everything that the platform needs looks like from here, at most once a second. */
export const createHealth = (options: HealthOptions): HealthLooks => {
  const { now, registry } = options;
  const sinceWhen = rememberSince(now);
  const askServices = async (): Promise<readonly ServiceHealth[]> => {
    const asked = withTimeout(options.services, lookTimeoutMs).catch(() => undefined);
    return (await asked) ?? [{ service: 'services', dependencies: [], reason: 'no_answer' }];
  };
  const lookAtServices = shareLook(askServices, now);
  const look = async (): Promise<Health> => {
    const services = await lookAtServices();
    const own = sinceWhen([...options.servers(), ...services.map(toFinding)]);
    return mergeAll([
      ...own.map((one) => ({ ...one, seenBy: 'gateway' })),
      ...services.flatMap(({ service, dependencies }) =>
        dependencies.map((one) => ({ ...one, seenBy: service })),
      ),
    ]);
  };
  if (registry)
    new Gauge({
      name: 'backlot_dependency_works',
      help: 'Of what the platform needs: 1 works, 0.5 works less well, 0 does not',
      labelNames: ['dependency'] as const,
      registers: [registry],
      async collect() {
        const { dependencies } = await look();
        this.reset();
        for (const { name, state } of dependencies) this.set({ dependency: name }, shares[state]);
      },
    });
  return {
    look,
    async answer(res) {
      const body = JSON.stringify(await look());
      res.writeHead(definition.status, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
        'Cache-Control': 'no-store',
      });
      res.end(body);
    },
  };
};
