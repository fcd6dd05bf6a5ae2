import { AsyncLocalStorage } from 'node:async_hooks';
import type { KeyObject } from 'node:crypto';
import type { Database } from '@backlot/database';
import { FairShareFull, type FairShares } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import {
  beforeTransaction,
  decodeLogPosition,
  encodeLogPosition,
  type LogPosition,
} from '../change-log/position.ts';
import { readLogEnd } from '../change-log/read-log.ts';
import type { Channels } from '../channels/channels.ts';
import { ChannelListener } from '../channels/listener.ts';
import type { AskedEvents } from './asked-events.ts';
import { createCatchUp } from './catch-up.ts';
import { EventQueue, type UnsentBytes } from './event-queue.ts';
import { type FindCollection, LiveStream, type SignPosition } from './stream.ts';
import { createStreamPlaces } from './stream-places.ts';
import { Tail } from './tail.ts';

const beatEveryMs = 20_000;
/** A reader who takes nothing for so long is cut off. */
const stalledAfterMs = 60_000;
/** Events can be caught up with for so long. */
const resumableMs = 24 * 60 * 60_000;
/** Tails that look at the log at the same time because their time has come. */
const looksAtOnce = 4;

export interface LiveStreamsDeps {
  database: Database;
  find: FindCollection;
  /** What is known of a collection is read anew. */
  forget: (projectNumber: number, name: string) => void;
  cursorKeys: readonly KeyObject[];
  /** Epoch milliseconds. */
  now: () => number;
  onFailure: (error: unknown) => void;
  /** Parts of the log that are read for single streams. */
  catchUps: FairShares;
  channels: Pick<Channels, 'hub' | 'check' | 'join'>;
  /** The first stream of a project has come. */
  onWatch: (projectNumber: number) => void;
}

export interface LiveStreams {
  /**
   * Opens a stream that goes on behind this event, or from now on.
   * @throws ApiError rate_limited, overloaded, unauthenticated, forbidden, invalid_where, invalid_cursor, conflict
   */
  open(
    identity: Identity,
    asked: AskedEvents,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<string>>;
  /** The log of the project may have more. */
  wake(projectNumber: number): void;
  noteChanged(projectNumber: number, collection: string): void;
  /** Projects of which there are streams. */
  watched(): number[];
  /** Each tail looks at its log, whether it was woken or not. */
  lookAtAll(): Promise<void>;
  /** Ends all, which begin anew elsewhere. */
  drain(): void;
}

export const createLiveStreams = (deps: LiveStreamsDeps): LiveStreams => {
  const { database, find, forget, cursorKeys, now, onFailure, onWatch, channels } = deps;
  const takePlace = createStreamPlaces();
  const unsent: UnsentBytes = { total: 0 };
  const all = new Set<LiveStream>();
  const tails = new Map<number, { tail: Tail; streams: Set<LiveStream> }>();
  // What tails do is no part of the call that happened to begin them.
  const outside = AsyncLocalStorage.snapshot();
  const toScope = (projectNumber: number) => ({ projectNumber, reads: 'events' });

  /** Streams of one mark are where others are, and signing takes long. */
  const createSign = (projectNumber: number): SignPosition => {
    let last: { position: LogPosition; ids: Map<string, string> } | undefined;
    return (position, mark) => {
      if (last?.position !== position) last = { position, ids: new Map() };
      const known = last.ids.get(mark);
      if (known !== undefined) return known;
      const id = encodeLogPosition(position, now(), toScope(projectNumber), cursorKeys, mark);
      last.ids.set(mark, id);
      return id;
    };
  };
  const signs = new Map<number, SignPosition>();

  const tailOf = (projectNumber: number, position: LogPosition) => {
    const known = tails.get(projectNumber);
    if (known) return known;
    const tail = new Tail(projectNumber, position, { database, find, forget, now, onFailure });
    const made = { tail, streams: new Set<LiveStream>() };
    tails.set(projectNumber, made);
    outside(() => onWatch(projectNumber));
    return made;
  };

  const close = (stream: LiveStream) => {
    const { number } = stream.identity.project;
    stream.queue.end();
    all.delete(stream);
    const known = tails.get(number);
    known?.tail.leave(stream);
    known?.streams.delete(stream);
    if (known?.streams.size !== 0) return;
    known.tail.stop();
    tails.delete(number);
    signs.delete(number);
  };

  const catchUp = createCatchUp(deps);

  return {
    async open(identity, asked, lastEventId, signal) {
      const { number } = identity.project;
      const isWatching = asked.collections.length > 0;
      channels.check(identity, asked.channels, asked.here);
      const from =
        isWatching && lastEventId
          ? decodeLogPosition(lastEventId, toScope(number), cursorKeys)
          : undefined;
      const queue = new EventQueue(unsent, performance.now());
      const sign = signs.get(number) ?? createSign(number);
      if (isWatching) signs.set(number, sign);
      const position = from?.position ?? beforeTransaction('0');
      const stream = new LiveStream({ identity, asked: asked.collections, queue, position }, sign);
      const leavePlace = takePlace(identity, () => stream.end('restart'));
      let leaveChannels = () => {};
      const leave = () => {
        leavePlace();
        leaveChannels();
        close(stream);
      };
      try {
        const isRight = await stream.resolve(find, from?.mark ?? '');
        const isLate = from !== undefined && now() - from.atMs > resumableMs;
        const isResumed = from !== undefined && isRight && !isLate;
        const end = isWatching ? await readLogEnd(database, number) : position;
        if (!isResumed) stream.position = end;
        const listener =
          asked.channels.length > 0 && new ChannelListener(identity, asked.channels, queue);
        stream.ready(listener ? { stream: listener.id } : {});
        if (from && !isResumed) stream.beginAnew(isLate ? 'expired' : 'access');
        if (signal.aborted) queue.end();
        signal.addEventListener('abort', () => queue.end(), { once: true });
        if (isWatching) {
          const { tail, streams } = tailOf(number, end);
          streams.add(stream);
          catchUp(stream, tail, signal).catch((error: unknown) => {
            if (!signal.aborted && !(error instanceof FairShareFull)) onFailure(error);
            stream.end('restart');
          });
        }
        all.add(stream);
        if (listener) {
          const isFirst = !tails.has(number) && !channels.hub.has(number);
          leaveChannels = channels.join(listener, asked.here);
          if (isFirst) outside(() => onWatch(number));
        }
      } catch (error) {
        leave();
        throw error;
      }
      const beat = setInterval(() => {
        if (queue.bytes > 0 && performance.now() - queue.takenAt > stalledAfterMs)
          stream.end('stalled');
        else stream.beat();
      }, beatEveryMs).unref();
      return (async function* () {
        try {
          yield* queue;
        } finally {
          clearInterval(beat);
          leave();
        }
      })();
    },
    wake: (projectNumber) => outside(() => tails.get(projectNumber)?.tail.wake()),
    noteChanged: (projectNumber, name) =>
      outside(() => tails.get(projectNumber)?.tail.noteChanged(name)),
    watched: () => [...new Set([...tails.keys(), ...channels.hub.projects])],
    async lookAtAll() {
      const due = [...tails.values()].values();
      const lookOn = async () => {
        for (const { tail } of due) await tail.look();
      };
      await Promise.all(Array.from({ length: looksAtOnce }, lookOn));
    },
    drain() {
      for (const stream of all) stream.end('restart');
    },
  };
};
