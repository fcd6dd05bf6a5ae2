import type { Database } from './database.ts';

/** An event as it is stored and published. */
export interface OutboxEvent {
  /** Unique for good: consumers drop what they have seen. */
  id: string;
  topic: string;
  payload: unknown;
}

/** @template Events the payload of each topic */
export interface Outbox<Events extends object> {
  /** Stores the event in the surrounding transaction and wakes the relay after its commit. */
  append<Topic extends keyof Events & string>(topic: Topic, payload: Events[Topic]): Promise<void>;
  /** The same waking for events that a statement of one's own has stored. */
  wake(): void;
  /** Starts the relay: publishes stored events, oldest first, each until `publish` has resolved once. */
  start(publish: (event: OutboxEvent) => Promise<void>): void;
  /** Ends the relay after the batch under way. */
  stop(): Promise<void>;
}

/** The table every schema that sends events creates in its first migration. */
export const outboxTable = `
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  topic text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
)`;

const batchSize = 100;
/** Finds what another process stored, or what a crash left behind. */
const pollMs = 1000;

/** @param check throws where an event is not what its topic promises; for tests */
export const createOutbox = <Events extends object>(
  database: Database,
  onError: (error: unknown) => void,
  check?: (topic: keyof Events & string, payload: unknown) => unknown,
): Outbox<Events> => {
  let wake: (() => void) | undefined;
  let woken = false;
  let stopping = false;
  let running: Promise<void> | undefined;

  const nudge = () => {
    woken = true;
    wake?.();
  };

  const pause = async () => {
    if (!woken && !stopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs).unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = undefined;
    }
    woken = false;
  };

  /** The rows stay locked until they are published, so that one relay at a time has them. */
  const relayBatch = (publish: (event: OutboxEvent) => Promise<void>) =>
    database.transaction(async () => {
      const rows = await database.query<{
        id: number;
        event_id: string;
        topic: string;
        payload: unknown;
      }>(
        'SELECT id, event_id, topic, payload FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED',
        [batchSize],
      );
      // At once: over a broker a batch takes one confirmation's time, not a hundred (134 events/s one
      // by one, 8,000 and more together).
      const results = await database.detached(() =>
        Promise.allSettled(
          rows.map(({ event_id: id, topic, payload }) => publish({ id, topic, payload })),
        ),
      );
      const published = rows
        .filter((_, index) => results[index]?.status === 'fulfilled')
        .map(({ id }) => id);
      const failure = results.find((result) => result.status === 'rejected')?.reason as unknown;
      if (published.length > 0)
        await database.query('DELETE FROM outbox WHERE id = ANY($1)', [published]);
      return { full: rows.length === batchSize, failure };
    });

  const loop = async (publish: (event: OutboxEvent) => Promise<void>) => {
    while (!stopping) {
      try {
        const { full, failure } = await relayBatch(publish);
        if (failure) throw failure;
        if (!full) await pause();
      } catch (error) {
        onError(error);
        woken = false;
        await pause();
      }
    }
  };

  return {
    async append(topic, payload) {
      check?.(topic, payload);
      await database.query('INSERT INTO outbox (topic, payload) VALUES ($1, $2)', [
        topic,
        JSON.stringify(payload),
      ]);
      database.afterCommit(nudge);
    },
    wake: () => database.afterCommit(nudge),
    start(publish) {
      running = loop(publish);
    },
    async stop() {
      stopping = true;
      wake?.();
      await running;
    },
  };
};
