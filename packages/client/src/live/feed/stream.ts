import { readEvents, type ServerSentEvent } from '../../event-stream.ts';
import { pauseMsAfter, type Transport, wait } from '../../transport.ts';
import type { Fields, Item } from '../../values.ts';
import { createRefusals, isRefusal } from './refusals.ts';
import { createSayPresence } from './say-presence.ts';
import { type Failure, joinWants, toKey, type Want } from './want.ts';
import { onWindow } from './window.ts';

/** As the server tells it. */
export interface ServerChange {
  collection: string;
  type: 'create' | 'update' | 'delete' | 'leave';
  id: string;
  record?: Item;
  changedAt: string;
}

/** What happened in a channel: somebody said something, comes, goes or says something else of being there. */
export interface Told {
  name: string;
  data: Fields & { channel: string };
}

export interface StreamListener {
  /** Later changes of these are sure to be told. */
  ready(keys: readonly string[]): void;
  /** @param position of the stream behind it */
  change(change: ServerChange, position: string | undefined): void;
  told(told: Told): void;
  /** Changes may have been missed. */
  reset(position: string | undefined): void;
  /** @param keys of what can not be watched; all that there are unless named */
  fail(error: Failure, keys?: readonly string[]): void;
  /** The connection lives: every 20 seconds at least. */
  alive(): void;
}

export interface Source {
  want(wants: readonly Want[]): void;
  close(): void;
}

/** A stream carries as many. */
export const maxCollections = 20;
/** The server sends something every 20 seconds. */
const silentMs = 50_000;
/** All filters go in an address. */
const maxFilterLength = 1500;
const maxFilters = 10;

/** Of several filters of a collection any; without one its lists pick what is theirs. */
const joinFilters = (filters: readonly Fields[]): Fields | undefined => {
  const [first] = filters;
  const all = filters.length > 1 ? { $or: filters } : first;
  const isOpen = filters.some((where) => Object.keys(where).length === 0);
  const isLong = filters.length > maxFilters || JSON.stringify(all).length > maxFilterLength;
  return isOpen || isLong ? undefined : all;
};

const toQuery = (wants: readonly Want[]): Record<string, unknown> => {
  const byCollection = new Map<string, Fields[]>();
  const channels = wants.flatMap(({ channel = [] }) => channel);
  for (const { collection, where = {} } of wants)
    if (collection !== undefined)
      byCollection.set(collection, [...(byCollection.get(collection) ?? []), where]);
  const filters = [...byCollection].map(([name, wheres]) => [`where.${name}`, joinFilters(wheres)]);
  const named = (names: readonly string[]) => (names.length > 0 ? names.join(',') : undefined);
  return {
    collections: named([...byCollection.keys()]),
    channels: named(channels),
    ...Object.fromEntries(filters),
  };
};

/** Reads one connection to its end. @returns whether it was ready */
const readOnce = async (
  transport: Transport,
  { query, position, signal }: { query: Fields; position: string | undefined; signal: AbortSignal },
  handle: (event: ServerSentEvent) => void,
): Promise<void> => {
  const connection = new AbortController();
  const stop = () => connection.abort();
  signal.addEventListener('abort', stop);
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(stop, silentMs);
  };
  try {
    listen();
    const { body } = await transport.send('GET', '/events', {
      query,
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': position },
      signal: connection.signal,
      canRepeat: false,
    });
    if (!body) throw new Error('This runtime does not stream answers.');
    for await (const event of readEvents(body)) {
      if (signal.aborted || event.name === 'end') return;
      listen();
      handle(event);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', stop);
  }
};

/** One connection for all that is wanted, which comes back by itself. @param position to go on from */
export const openStream = (
  transport: Transport,
  listener: StreamListener,
  position?: string,
): Source => {
  let wanted = new Map<string, Want>();
  /** What the present connection is for, once later changes of it are sure to be told. */
  let ready: readonly string[] | undefined;
  /** What it is asked for, or was with what is not wanted any more. */
  let asked: readonly string[] = [];
  let attempt = new AbortController();
  /** Something may have happened that nobody was told of. */
  let hasGap = false;
  const refusals = createRefusals(transport, {
    refuse: (key, error) => listener.fail(error, [key]),
    allow: () => restart(),
  });

  const presence = createSayPresence(transport, () => wanted, listener.fail);

  const handle = ({ name, id, data }: ServerSentEvent, keys: readonly string[]) => {
    if (id !== '') position = id;
    listener.alive();
    if (name === 'ready') {
      ready = keys;
      if (hasGap) listener.reset(position);
      hasGap = false;
      presence.begin(data.stream);
      listener.ready(keys);
    } else if (name === 'message' || name === 'presence') listener.told({ name, data });
    else if (name === 'change') listener.change(data as ServerChange, position);
    else if (name === 'reset') listener.reset(position);
  };

  /** @returns whether it is worth another try at once; undefined where there is none */
  const learnFrom = async (error: Failure, wants: readonly Want[]) => {
    if (!isRefusal(error)) {
      if (error.status !== 401) return false;
      listener.fail(error);
      return undefined;
    }
    // A position that is no more: what happened since is read anew.
    if (position !== undefined) {
      position = undefined;
      hasGap = true;
      return true;
    }
    // A stream is refused as a whole.
    if (await refusals.find(wants)) return true;
    listener.fail(error);
    return false;
  };

  const run = async ({ signal }: AbortController) => {
    for (let failures = 0; !signal.aborted; ) {
      const wants = refusals.without(wanted);
      asked = wants.map(toKey);
      if (wants.length === 0) return;
      let failure: Failure | undefined;
      try {
        const options = { query: toQuery(wants), position, signal };
        await readOnce(transport, options, (event) => handle(event, asked));
      } catch (error) {
        failure = error as Failure;
      }
      if (signal.aborted) return;
      if (ready) failures = 0;
      ready = undefined;
      presence.end();
      const isWorthIt = failure && (await learnFrom(failure, wants));
      if (failure && isWorthIt === undefined) return;
      if (!isWorthIt) await wait(pauseMsAfter(failure ?? {}, failures++), signal).catch(() => {});
    }
  };

  /** For something else: where the one before was means nothing to this stream. */
  const restart = () => {
    attempt.abort();
    hasGap ||= position !== undefined;
    ready = position = undefined;
    presence.end();
    attempt = new AbortController();
    void run(attempt);
  };
  /** The network is back. */
  const wake = () => {
    if (ready) return;
    attempt.abort();
    attempt = new AbortController();
    void run(attempt);
  };
  const stopWaking = onWindow('online', wake);

  return {
    want(wants) {
      wanted = joinWants(wants);
      const isAsked = refusals.without(wanted).every((want) => asked.includes(toKey(want)));
      if (!isAsked) restart();
      else if (ready) {
        presence.say();
        listener.ready(ready);
      }
    },
    close() {
      attempt.abort();
      refusals.close();
      presence.end();
      stopWaking();
    },
  };
};
