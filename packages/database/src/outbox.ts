import type { Database } from './database.ts';

/** An event as it is stored and published. */
export interface OutboxEvent {
  /** Unique for good: consumers drop what they have seen. */
  id: string;
  topic: string;
  payload: unknown;
  /** The call that it comes from. */
  origin?: object | undefined;
}

/** @template Events the payload of each topic */
export interface Outbox<Events extends object> {
  /** Stores the event in the surrounding transaction and wakes the relay after its commit. */
  append<Topic extends keyof Events & string>(topic: Topic, payload: Events[Topic]): Promise<void>;
  /** The call that is worked for, as JSON, for the column of the same name. */
  origin(): string | null;
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
  origin jsonb,
  created_at timestamptz NOT NULL DEFAULT now()
)`;

const batchSize = 100;
/** Finds what another process stored, or what a crash left behind. */
const pollMs = 1000;

/**
 * @param check throws where an event is not what its topic promises; for tests
 * @param currentOrigin the call that is worked for
 */
export const createOutbox = <Events extends object>(
  database: Database,
  onError: (error: unknown) => void,
  check?: (topic: keyof Events & string, payload: unknown) => unknown,
  currentOrigin: () => object | undefined = () => undefined,
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
        origin: object | null;
      }>(
        'SELECT id, event_id, topic, payload, origin FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED',
        [batchSize],
      );
      // At once: over a broker a batch takes one confirmation's time.
      const results = await database.detached(() =>
        Promise.allSettled(
          rows.map(({ event_id: id, topic, payload, origin }) =>
            publish({ id, topic, payload, ...(origin && { origin }) }),
          ),
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

  const origin = () => {
    const found = currentOrigin();
    return found === undefined ? null : JSON.stringify(found);
  };

  return {
    origin,
    async append(topic, payload) {
      check?.(topic, payload);
      await database.query('INSERT INTO outbox (topic, payload, origin) VALUES ($1, $2, $3)', [
        topic,
        JSON.stringify(payload),
        origin(),
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
