import type { Bus, QueueBacklog } from '@backlot/bus';
import type { Database } from '@backlot/database';
import { shareLook, withTimeout } from '@backlot/http';
import { Gauge, type Registry } from '@backlot/telemetry';

/** More are not counted one by one. */
const maxCounted = 100_000;

/** The other metrics don't wait for a connection that others hold: they are looked at just then. */
const mostWaitMs = 100;

/** Shows at each look at the metrics how many events wait, where, and which were given up. Nowhere without a registry. */
export const measureEvents = (
  registry: Registry | undefined,
  bus: Bus,
  database: Database,
): void => {
  if (!registry) return;
  const registers = [registry];
  const now = performance.now.bind(performance);
  const count = shareLook(async () => {
    const counting = database.query<{ count: number }>(
      'SELECT count(*) FROM (SELECT FROM outbox LIMIT $1) AS unsent',
      [maxCounted],
    );
    const [row] = await counting.catch(() => []);
    return row?.count;
  }, now);
  new Gauge({
    name: 'backlot_events_unsent',
    help: `Events in the outbox, up to ${maxCounted}`,
    registers,
    async collect() {
      const unsent = await withTimeout(count, mostWaitMs);
      if (unsent === undefined) this.reset();
      else this.set(unsent);
    },
  });
  const backlog = shareLook(() => bus.backlog(), now);
  const gauge = (name: string, help: string, read: (queue: QueueBacklog) => number) =>
    new Gauge({
      name,
      help,
      registers,
      labelNames: ['queue'] as const,
      async collect() {
        const queues = await backlog();
        this.reset();
        for (const queue of queues) this.set({ queue: queue.queue }, read(queue));
      },
    });
  gauge('backlot_events_waiting', 'Events to be handled or tried again', ({ waiting }) => waiting);
  gauge('backlot_events_parked', 'Events that no delivery succeeded for', ({ parked }) => parked);
};
