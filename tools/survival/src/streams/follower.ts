import { setTimeout as sleep } from 'node:timers/promises';
import { type ReceivedEvent, type ReceivedEvents, receiveEvents } from '@backlot/testing';

interface Stored {
  id: string;
}

export interface Followed {
  /** Below `/api/runtime/<project>`. */
  base: string;
  headers: Record<string, string>;
  collection: string;
  where: object | null;
}

export interface Follower {
  held: Map<string, Stored>;
  /** Told of twice, without having begun anew between. */
  repeated: string[];
  /** What it was refused with, other than that something is away. */
  refusals: string[];
  resumed(): number;
  /** All that its caller may read of it. Throws where it is refused. */
  list(): Promise<Map<string, Stored>>;
  /** Breaks its connection; it comes back. */
  cut(): void;
  stop(): Promise<void>;
}

const pauseMs = 50;
const pageRecords = 500;

/** A client that holds what it may read of a collection, by a list and what it is told from then on. */
export const follow = ({ base, headers, collection, where }: Followed): Follower => {
  const held = new Map<string, Stored>();
  const repeated: string[] = [];
  const refusals: string[] = [];
  let told = new Set<string>();
  let lastEventId = '';
  let isWhole = false;
  let isOver = false;
  let resumed = 0;
  let stream: ReceivedEvents | undefined;
  const filter = where ? encodeURIComponent(JSON.stringify(where)) : undefined;

  const list = async () => {
    const found = new Map<string, Stored>();
    let cursor = '';
    do {
      const query = `limit=${pageRecords}&sort=id${filter ? `&where=${filter}` : ''}${cursor}`;
      const answer = await fetch(`${base}/db/${collection}?${query}`, { headers });
      if (!answer.ok) throw new Error(`The list answered ${answer.status}.`);
      const page = (await answer.json()) as { items: Stored[]; nextCursor: string | null };
      for (const item of page.items) found.set(item.id, item);
      cursor = page.nextCursor ? `&cursor=${page.nextCursor}` : '';
    } while (cursor !== '');
    return found;
  };

  const readAll = async () => {
    const found = await list();
    told = new Set();
    held.clear();
    for (const [id, item] of found) held.set(id, item);
    isWhole = true;
  };

  const take = ({ event, data }: ReceivedEvent) => {
    if (event === 'reset') isWhole = false;
    if (event !== 'change') return;
    const entry = `${data.seq} ${data.id}`;
    if (isWhole && told.has(entry)) repeated.push(entry);
    told.add(entry);
    if (data.record) held.set(data.id, data.record);
    else held.delete(data.id);
  };

  const open = () =>
    receiveEvents(
      `${base}/events?collections=${collection}${filter ? `&where.${collection}=${filter}` : ''}`,
      { ...headers, ...(lastEventId && { 'last-event-id': lastEventId }) },
    );

  const goOn = async () => {
    while (!isOver) {
      stream = await open().catch(() => undefined);
      if (stream && ![200, 429, 503].includes(stream.status)) refusals.push(stream.text());
      if (stream?.status === 200) {
        if (lastEventId) resumed += 1;
        for (;;) {
          const isLast = stream.isClosed();
          for (const event of stream.events.splice(0)) take(event);
          if (isLast) break;
          // Behind `ready`, whose place in the stream is before what the list has.
          if (!isWhole && stream.lastEventId()) await readAll().catch(() => sleep(pauseMs));
          await sleep(5);
        }
        lastEventId = stream.lastEventId() || lastEventId;
      }
      await sleep(pauseMs);
    }
  };
  const going = goOn();

  return {
    held,
    repeated,
    refusals,
    resumed: () => resumed,
    list,
    cut: () => stream?.close(),
    async stop() {
      isOver = true;
      stream?.close();
      await going;
    },
  };
};
