import { type Bus, BusUnavailable, type DeadEvent } from '@backlot/bus';
import {
  ApiError,
  isUuid,
  type ParkedEvent,
  type ParkedEventContent,
  type ReplayOutcome,
  type ServiceOperations,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import { withoutSecrets } from '@backlot/http';
import { uuidv7 } from 'uuidv7';
import { showPayload } from './shown-payload.ts';

/** Of one service; those past it stay in the bus until there is room. */
const maxKept = 10_000;
/** Taken from the bus for a queue at a time. */
const mostTaken = 100;
/** Who replays has so long, and is taken for dead past it. */
const replayMs = 60_000;
const mostListed = 1001;

interface Row {
  id: string;
  queue: string;
  topic: string | null;
  event_id: string | null;
  project: string | null;
  error: string;
  parked_at: Date;
}

type RowWithContent = Row & { content: Buffer };

const columns = 'id, queue, topic, event_id, project, error, parked_at';

const present = (row: Row): ParkedEvent => ({
  id: row.id,
  queue: row.queue,
  topic: row.topic,
  eventId: row.event_id,
  projectId: row.project,
  error: withoutSecrets(row.error),
  parkedAt: row.parked_at.toISOString(),
});

const parse = (content: Buffer): unknown => {
  try {
    return JSON.parse(content.toString());
  } catch {
    return content.toString('utf8');
  }
};

/** PostgreSQL keeps no NUL in a text. */
const storable = (text: string) => text.replaceAll('\0', '');

const projectOf = (payload: unknown): string | null =>
  typeof payload === 'object' &&
  payload !== null &&
  'projectId' in payload &&
  typeof payload.projectId === 'string'
    ? storable(payload.projectId.slice(0, 100))
    : null;

export interface ParkedEventsDeps {
  database: Database;
  scopes: Pick<Database, 'acrossProjects'>;
  bus: Pick<Bus, 'redeliver' | 'takeDead'>;
  /** Epoch milliseconds. */
  now: () => number;
}

export interface ParkedEvents
  extends Pick<ServiceOperations, 'listParked' | 'showParked' | 'replayParked' | 'dropParked'> {
  /** Rejects where there is no room. */
  keep(queue: string, dead: DeadEvent): Promise<void>;
  /** Takes over what the bus itself keeps of these queues. */
  takeAll(queues: readonly string[]): Promise<void>;
  count(): Promise<{ queue: string; count: number }[]>;
}

/**
 * Events that no delivery succeeded for. An event handed over again is deleted once its queue has it: who dies
 * between the two hands it over twice, which every consumer stands, for an event's id is its for good.
 */
export const createParkedEvents = ({
  database,
  scopes,
  bus,
  now,
}: ParkedEventsDeps): ParkedEvents => {
  const all = scopes.acrossProjects;

  const keep = async (queue: string, { event, content, error }: DeadEvent) => {
    const rows = await all(() =>
      database.query(
        `INSERT INTO parked_events (id, queue, topic, event_id, project, content, error, parked_at)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
          WHERE (SELECT count(*) FROM (SELECT FROM parked_events LIMIT ${maxKept}) AS kept) < ${maxKept}
             OR EXISTS (SELECT FROM parked_events WHERE queue = $2 AND event_id = $4)
         ON CONFLICT (queue, event_id) DO UPDATE
            SET id = excluded.id, error = excluded.error, parked_at = excluded.parked_at, replayed_at = NULL
         RETURNING id`,
        [
          uuidv7(),
          queue,
          event ? storable(event.topic) : null,
          event ? storable(event.id) : null,
          projectOf(event?.payload),
          content,
          storable(error),
          new Date(now()),
        ],
      ),
    );
    if (rows.length === 0) throw new Error('As many events are parked as may be.');
  };

  /** Only one of several at once gets it. */
  const claim = async (id: string): Promise<RowWithContent | 'gone' | 'busy'> => {
    const at = now();
    const [row] = await database.query<RowWithContent>(
      `UPDATE parked_events SET replayed_at = $2
        WHERE id = $1 AND (replayed_at IS NULL OR replayed_at < $3)
        RETURNING ${columns}, content`,
      [id, new Date(at), new Date(at - replayMs)],
    );
    if (row) return row;
    const there = await database.query('SELECT FROM parked_events WHERE id = $1', [id]);
    return there.length > 0 ? 'busy' : 'gone';
  };

  const replay = async (id: string): Promise<ReplayOutcome> => {
    const [known] = await database.query<{ topic: string | null }>(
      'SELECT topic FROM parked_events WHERE id = $1',
      [id],
    );
    if (known && known.topic === null) return 'no-event';
    const row = await claim(id);
    if (typeof row === 'string') return row;
    const { queue, event_id: eventId, topic, content } = row;
    try {
      const event = { id: eventId ?? '', topic: topic ?? '', payload: parse(content) };
      await bus.redeliver(queue, event);
    } catch (cause) {
      await database.query('UPDATE parked_events SET replayed_at = NULL WHERE id = $1', [id]);
      throw new ApiError('unavailable', 'The event could not be handed over; it stays parked.', {
        cause,
        retryAfterSeconds: 2,
      });
    }
    // One that failed again meanwhile has another id.
    await database.query('DELETE FROM parked_events WHERE id = $1', [id]);
    return 'replayed';
  };

  return {
    keep,
    async takeAll(queues) {
      try {
        for (const queue of queues)
          await bus.takeDead(queue, mostTaken, (dead) => keep(queue, dead));
      } catch (error) {
        // Whoever asks for the service's health learns that; these wait.
        if (!(error instanceof BusUnavailable)) throw error;
      }
    },
    count: () =>
      all(() =>
        database.query<{ queue: string; count: number }>(
          'SELECT queue, count(*) FROM parked_events GROUP BY queue',
        ),
      ),
    listParked: async ({ limit, before }) => {
      const rows = await all(() =>
        database.query<Row>(
          `SELECT ${columns} FROM parked_events WHERE $2::uuid IS NULL OR id < $2
            ORDER BY id DESC LIMIT $1`,
          [Math.min(limit, mostListed), before ?? null],
        ),
      );
      return rows.map(present);
    },
    async showParked(id): Promise<ParkedEventContent | null> {
      if (!isUuid(id)) return null;
      const [row] = await all(() =>
        database.query<RowWithContent>(
          `SELECT ${columns}, content FROM parked_events WHERE id = $1`,
          [id],
        ),
      );
      return row ? { ...present(row), payload: showPayload(parse(row.content)) } : null;
    },
    replayParked: async (id) => (isUuid(id) ? await all(() => replay(id)) : 'gone'),
    async dropParked(id) {
      if (!isUuid(id)) return false;
      const text = 'DELETE FROM parked_events WHERE id = $1 RETURNING id';
      return (await all(() => database.query(text, [id]))).length > 0;
    },
  };
};
