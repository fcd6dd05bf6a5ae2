import { Counter, Gauge, type Registry } from 'prom-client';

/** Totals count from the start of the process. */
export interface LaneUsage {
  /** None: the queue has no such lane. */
  slots: number;
  running: number;
  waiting: number;
  refused: number;
  costMs: number;
  /** Those with work at the moment, the most expensive first. */
  owners: readonly { owner: string; costMs: number }[];
}

/** What shares out something scarce, by name of the lane; a queue of packages/fair-shares is one. */
export interface MeasuredQueue {
  usage(): Record<string, LaneUsage>;
}

/** Names in the metrics are few however many owners there are. */
const namedOwners = 5;

/**
 * Shows at each look at the metrics how full these queues are, what their work has cost, and in each
 * lane the owners with the most expensive work at the moment. Once for a registry; nowhere without one.
 */
export const measureQueues = (
  registry: Registry | undefined,
  queues: Readonly<Record<string, MeasuredQueue>>,
): void => {
  if (!registry) return;
  const lanes = () =>
    Object.entries(queues).flatMap(([queue, { usage }]) =>
      Object.entries(usage())
        .filter(([, { slots }]) => slots > 0)
        .map(([lane, laneUsage]) => ({ labels: { queue, lane }, usage: laneUsage })),
    );
  const shared = { labelNames: ['queue', 'lane'] as const, registers: [registry] };
  const gauge = (name: string, help: string, read: (usage: LaneUsage) => number) =>
    new Gauge({
      ...shared,
      name,
      help,
      collect() {
        for (const { labels, usage } of lanes()) this.set(labels, read(usage));
      },
    });
  const total = (name: string, help: string, read: (usage: LaneUsage) => number) =>
    new Counter({
      ...shared,
      name,
      help,
      collect() {
        this.reset();
        for (const { labels, usage } of lanes()) this.inc(labels, read(usage));
      },
    });

  gauge('backlot_queue_slots', 'Pieces of work that may run at once', ({ slots }) => slots);
  gauge('backlot_queue_running', 'Pieces of work under way', ({ running }) => running);
  gauge('backlot_queue_waiting', 'Pieces of work that wait for a slot', ({ waiting }) => waiting);
  total(
    'backlot_queue_refused_total',
    'Pieces of work refused because too many waited',
    ({ refused }) => refused,
  );
  total(
    'backlot_queue_cost_seconds_total',
    'Time for which slots were taken',
    ({ costMs }) => costMs / 1000,
  );
  new Gauge({
    name: 'backlot_queue_owner_cost_seconds',
    help: 'Time for which an owner with work at the moment has taken slots since they last had none',
    labelNames: ['queue', 'lane', 'owner'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, usage } of lanes())
        for (const { owner, costMs } of usage.owners.slice(0, namedOwners))
          this.set({ ...labels, owner }, costMs / 1000);
    },
  });
};
