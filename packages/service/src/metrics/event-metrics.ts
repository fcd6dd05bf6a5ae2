import type { Bus, QueueBacklog } from '@backlot/bus';
import type { Database } from '@backlot/database';
import { shareLook, withTimeout } from '@backlot/http';
import { Gauge, type Registry } from '@backlot/telemetry';
import type { ParkedEvents } from '../parked-events/parked-events.ts';

/** More are not counted one by one. */
const maxCounted = 100_000;

/** The other metrics don't wait for a connection that others hold: they are looked at just then. */
const mostWaitMs = 100;

interface Unsent {
  count: number;
  oldestSeconds: number;
}

/** Shows at each look at the metrics how many events wait, where, and which were given up. Nowhere without a registry. */
export const measureEvents = (
  registry: Registry | undefined,
  bus: Bus,
  database: Database,
  parked: Pick<ParkedEvents, 'count'>,
): void => {
  if (!registry) return;
  const registers = [registry];
  const now = performance.now.bind(performance);
  const count = shareLook(async () => {
    const counting = database.query<Unsent>(
      `SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "oldestSeconds"
         FROM (SELECT created_at FROM outbox ORDER BY id LIMIT $1) AS unsent`,
      [maxCounted],
    );
    const [row] = await counting.catch(() => []);
    return row;
  }, now);
  const outbox = (name: string, help: string, read: (unsent: Unsent) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const unsent = await withTimeout(count, mostWaitMs);
        if (unsent === undefined) this.reset();
        else this.set(read(unsent));
      },
    });
  outbox('backlot_events_unsent', `Events in the outbox, up to ${maxCounted}`, (one) => one.count);
  outbox(
    'backlot_events_unsent_oldest_seconds',
    'Age of the oldest event in the outbox',
    ({ oldestSeconds }) => oldestSeconds,
  );
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
  const kept = shareLook(() => parked.count().catch(() => undefined), now);
  let rows: Awaited<ReturnType<typeof parked.count>> = [];
  new Gauge({
    name: 'backlot_events_parked',
    help: 'Events that no delivery succeeded for',
    registers,
    labelNames: ['queue'] as const,
    async collect() {
      const [queues, counted] = await Promise.all([backlog(), withTimeout(kept, mostWaitMs)]);
      // What is parked stays so: nothing is said to be mended because nobody could look.
      rows = counted ?? rows;
      this.reset();
      for (const { queue, parked: inBus } of queues) this.set({ queue }, inBus);
      for (const { queue, count } of rows) this.inc({ queue }, count);
    },
  });
};
