import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError, requestRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { createPlaces } from '@backlot/http';
import { CallReader, frame, maxUnsent, type Unsent } from './call-reader.ts';
import type { CallFilter } from './filter.ts';
import { readCallsAfter, readLogEnds } from './read-calls.ts';

const lookEveryMs = 500;
const beatEveryMs = 20_000;
const pageLines = 500;
const places = { all: 2000, owner: 100 };

interface Tail {
  line: number;
  readers: Set<CallReader>;
}

export interface CallStreams {
  /** @throws ApiError rate_limited, overloaded, invalid_query */
  open(
    project: { number: number; ownerId: string | null },
    filter: CallFilter,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<string>>;
  /** Lines may have come. */
  look(): void;
  drain(): void;
  stop(): void;
}

const tooMany = (whose: string, count: number) =>
  new ApiError(
    'rate_limited',
    `${whose} has ${count} streams of calls open, as many as there may be.`,
    {
      retryAfterSeconds: 10,
    },
  );

/**
 * Each process reads the log of a project once for all readers that it has of it. It looks twice a second, because
 * another process may have added to it, and at once where it has itself.
 */
export const createCallStreams = (
  database: Database,
  onFailure: (error: unknown) => void,
): CallStreams => {
  const tails = new Map<number, Tail>();
  const ofProject = createPlaces({
    total: places.all,
    perAddress: requestRoutes.streamsOfCalls,
  });
  const ofOwner = createPlaces({ total: places.all, perAddress: places.owner });
  // What is read here is no part of the call that opened the stream.
  const outside = AsyncLocalStorage.snapshot();
  const unsent: Unsent = { count: 0 };
  let isLooking = false;
  let isWoken = false;
  let beats = 0;

  const readOn = async (projectNumber: number, tail: Tail, end: number) => {
    if (end - tail.line > maxUnsent) {
      tail.line = end;
      for (const reader of tail.readers) reader.push(frame('reset', { reason: 'slow' }, end));
    }
    while (tail.line < end) {
      const page = await readCallsAfter(database, projectNumber, tail.line, pageLines);
      for (const item of page) for (const reader of tail.readers) reader.tell(item);
      // Lines that were erased meanwhile are not waited for.
      tail.line =
        page.length < pageLines
          ? Math.max(end, page.at(-1)?.line ?? end)
          : (page.at(-1)?.line ?? end);
    }
  };

  const lookAtAll = async () => {
    isLooking = true;
    try {
      do {
        isWoken = false;
        const ends = await readLogEnds(database, [...tails.keys()]);
        for (const [projectNumber, tail] of tails)
          await readOn(projectNumber, tail, ends.get(projectNumber) ?? 0);
      } while (isWoken);
    } catch (error) {
      onFailure(error);
    } finally {
      isLooking = false;
    }
  };
  const look = () => {
    isWoken = true;
    if (isLooking || tails.size === 0) return;
    outside(() => void database.acrossProjects(lookAtAll));
  };
  const readers = () => [...tails.values()].flatMap((tail) => [...tail.readers]);
  const timer = setInterval(() => {
    look();
    beats += lookEveryMs;
    if (beats < beatEveryMs) return;
    beats = 0;
    for (const reader of readers()) reader.beat();
  }, lookEveryMs).unref();

  const takePlace = ({ number, ownerId }: { number: number; ownerId: string | null }) => {
    const [project, owner] = [String(number), ownerId ?? String(number)];
    const taken = ofProject.take(project);
    if (taken === 'full')
      throw new ApiError('overloaded', 'Too many streams are open. Try again shortly.', {
        retryAfterSeconds: 10,
      });
    if (taken === 'address-full') throw tooMany('This project', requestRoutes.streamsOfCalls);
    if (ofOwner.take(owner) !== 'taken') {
      ofProject.leave(project);
      throw tooMany('The owner of this project', places.owner);
    }
    return () => {
      ofProject.leave(project);
      ofOwner.leave(owner);
    };
  };

  /** Tells what has come behind this line, as far as the others were told. */
  const catchUp = async (projectNumber: number, reader: CallReader, after: number, end: number) => {
    if (end - after > maxUnsent || after > end)
      return reader.push(frame('reset', { reason: 'expired' }, end));
    const missed = await readCallsAfter(database, projectNumber, after, maxUnsent);
    for (const item of missed) if (item.line <= end) reader.tell(item);
  };

  return {
    async open(project, filter, lastEventId, signal) {
      const { number } = project;
      const after = lastEventId === undefined ? undefined : Number(lastEventId);
      if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0))
        throw new ApiError('invalid_query', '"lastEventId" is not of an event of this stream.');
      const leavePlace = takePlace(project);
      const reader = new CallReader(filter, unsent);
      const leave = () => {
        reader.close();
        leavePlace();
        const tail = tails.get(number);
        tail?.readers.delete(reader);
        if (tail?.readers.size === 0) tails.delete(number);
      };
      try {
        const ends = await readLogEnds(database, [number]);
        const tail = tails.get(number) ?? { line: ends.get(number) ?? 0, readers: new Set() };
        tails.set(number, tail);
        const { line } = tail;
        reader.push(`retry: 1000\n${frame('ready', {}, line)}`);
        if (after === undefined) tail.readers.add(reader);
        else {
          await catchUp(number, reader, after, line);
          tail.readers.add(reader);
          if (tail.line > line) await catchUp(number, reader, line, tail.line);
        }
      } catch (error) {
        leave();
        throw error;
      }
      signal.addEventListener('abort', () => reader.end(), { once: true });
      if (signal.aborted) reader.end();
      look();
      return (async function* () {
        try {
          yield* reader.texts();
        } finally {
          leave();
        }
      })();
    },
    look,
    drain() {
      for (const reader of readers()) reader.end('restart');
    },
    stop: () => clearInterval(timer),
  };
};
