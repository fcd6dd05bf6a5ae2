import type { KnownShares } from '../change-log/judge.ts';
import { readShares } from '../change-log/known-shares.ts';
import { comparePositions, type LogPosition } from '../change-log/position.ts';
import { type LogEntry, readLog, readLogEnd } from '../change-log/read-log.ts';
import { createRests } from '../change-log/rests.ts';
import { type AwaitedDeps, findAwaited } from './awaited.ts';
import type { FindCollection, LiveStream } from './stream.ts';

/** Entries that one statement looks at. */
const pageEntries = 500;
/** Where a transaction is under way, so soon the log is looked at again, and then twice as late each time. */
const firstRetryMs = 4;
const lastRetryMs = 1000;
/** Rules are looked at again so often, whether somebody has said that they are others or not. */
const refreshEveryMs = 10_000;

export interface TailDeps extends AwaitedDeps {
  find: FindCollection;
  /** Epoch milliseconds. */
  now: () => number;
  /** Reading the log has failed; it is tried again. */
  onFailure: (error: unknown) => void;
}

/** Of all streams: what is read for them, and who is told the same. */
interface Audience {
  collectionIds: number[];
  /** Collections that nobody has made yet, as far as those who ask for them know. */
  awaited: Set<string>;
  /** Those of them that others watch already. */
  made: string[];
  /** Of whom shares are asked for. */
  userIds: string[];
  /** By collection. */
  groups: Map<number, LiveStream[][]>;
}

const toAudience = (streams: Iterable<LiveStream>): Audience => {
  const userIds = new Set<string>();
  const awaited = new Set<string>();
  const watched = new Set<string>();
  const byKey = new Map<number, Map<string, LiveStream[]>>();
  for (const stream of streams) {
    if (stream.sharesOf !== undefined) userIds.add(stream.sharesOf);
    const waitsFor = new Set(stream.awaited);
    for (const { name } of stream.asked) (waitsFor.has(name) ? awaited : watched).add(name);
    for (const [id, key] of stream.watchedAs) {
      const groups = byKey.get(id) ?? new Map<string, LiveStream[]>();
      byKey.set(id, groups);
      const same = groups.get(key);
      if (same) same.push(stream);
      else groups.set(key, [stream]);
    }
  }
  const groups = new Map([...byKey].map(([id, found]) => [id, [...found.values()]]));
  const made = [...awaited].filter((name) => watched.has(name));
  return { collectionIds: [...byKey.keys()], awaited, made, userIds: [...userIds], groups };
};

const hasAll = <T>(whole: Iterable<T>, part: Iterable<T>): boolean => {
  const all = new Set(whole);
  return [...part].every((one) => all.has(one));
};

/** Whether what was read for the one audience is all that the other is to be told of. */
const isEnough = (read: Audience, now: Audience): boolean =>
  now === read ||
  (hasAll(read.collectionIds, now.collectionIds) &&
    hasAll(read.userIds, now.userIds) &&
    hasAll(read.awaited, now.awaited));

const tellAll = async (
  { groups }: Audience,
  entries: readonly LogEntry[],
  shares: KnownShares,
): Promise<void> => {
  const rest = createRests();
  for (const entry of entries) {
    for (const same of groups.get(entry.collectionId) ?? []) {
      const told = same[0]?.toFrame(entry, shares);
      if (told !== undefined) for (const stream of same) stream.tell(entry, told);
    }
    await rest();
  }
};

/** Reads the log of a project once for all of its streams in this process. */
export class Tail {
  readonly projectNumber: number;
  readonly #deps: TailDeps;
  readonly #streams = new Set<LiveStream>();
  /** Who has come since rules were looked at: what was said of them meanwhile was not said to these. */
  readonly #joined = new Set<LiveStream>();
  /** Made anew after they are others, or watch others. */
  #audience: Audience | undefined;
  #position: LogPosition;
  #isReading = false;
  #isWoken = false;
  #changed = new Set<string>();
  #refreshedAt: number;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;

  constructor(projectNumber: number, position: LogPosition, deps: TailDeps) {
    this.projectNumber = projectNumber;
    this.#position = position;
    this.#deps = deps;
    this.#refreshedAt = deps.now();
  }

  /** Whether the stream has been told of all that the others were, and goes on with them from now on. */
  join(stream: LiveStream): boolean {
    if (comparePositions(stream.position, this.#position) < 0) return false;
    this.#streams.add(stream);
    this.#joined.add(stream);
    this.#audience = undefined;
    return true;
  }

  leave(stream: LiveStream): void {
    this.#streams.delete(stream);
    this.#joined.delete(stream);
    this.#audience = undefined;
  }

  /** The collection's rules may be others. */
  noteChanged(name: string): void {
    this.#changed.add(name);
    this.wake();
  }

  /** The log may have more. */
  wake(): void {
    this.#retryMs = firstRetryMs;
    this.#isWoken = true;
    void this.look();
  }

  /** Reads to the end of the log, once at a time. */
  async look(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    clearTimeout(this.#retry);
    try {
      do {
        this.#isWoken = false;
        await this.#refresh();
        const isSettled = await this.#readToEnd();
        if (!isSettled) this.#retryLater();
      } while (this.#isWoken);
    } catch (error) {
      this.#deps.onFailure(error);
    } finally {
      this.#isReading = false;
    }
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#retryMs = Number.POSITIVE_INFINITY;
  }

  #retryLater() {
    clearTimeout(this.#retry);
    if (this.#retryMs > lastRetryMs) return;
    this.#retry = setTimeout(() => void this.look(), this.#retryMs).unref();
    this.#retryMs *= 2;
  }

  async #refresh(): Promise<void> {
    const { find, now } = this.#deps;
    const isDue = now() - this.#refreshedAt >= refreshEveryMs;
    const names = this.#changed;
    if (names.size === 0 && this.#joined.size === 0 && !isDue) return;
    this.#changed = new Set();
    if (isDue) this.#refreshedAt = now();
    const found = new Map<string, ReturnType<FindCollection>>();
    const findOnce: FindCollection = (projectNumber, name) => {
      const known = found.get(name) ?? find(projectNumber, name);
      found.set(name, known);
      return known;
    };
    const rest = createRests();
    try {
      for (const stream of isDue || names.size > 0 ? [...this.#streams] : [...this.#joined]) {
        const isAsked = stream.asked.some(({ name }) => names.has(name));
        if (!isDue && !isAsked && !this.#joined.has(stream)) continue;
        await stream.refresh(findOnce);
        this.#joined.delete(stream);
        this.#audience = undefined;
        await rest();
      }
    } catch (error) {
      for (const name of names) this.#changed.add(name);
      if (isDue) this.#refreshedAt = 0;
      throw error;
    }
  }

  #hearers(): Audience {
    this.#audience ??= toAudience(this.#streams);
    return this.#audience;
  }

  async #readToEnd(): Promise<boolean> {
    const { projectNumber } = this;
    const { database } = this.#deps;
    for (;;) {
      const asked = this.#hearers();
      const { collectionIds, awaited, userIds } = asked;
      const after = this.#position;
      const reading = { projectNumber, after, collectionIds, limit: pageEntries };
      const page = await readLog(database, reading);
      if (page.isGone) {
        this.#position = await readLogEnd(database, projectNumber);
        for (const stream of this.#streams) stream.reset('expired', this.#position);
        return true;
      }
      const others = { names: awaited, collectionIds: page.otherCollectionIds };
      const made = await findAwaited(this.#deps, projectNumber, others);
      const shares = await readShares(database, projectNumber, page.entries, userIds);
      // Nothing waits from here on until the position is behind the page: who joins later was told of it.
      const audience = this.#hearers();
      const unheard = [...made, ...audience.made];
      if (unheard.length > 0) {
        for (const name of unheard) this.#changed.add(name);
        await this.#refresh();
        continue;
      }
      if (!isEnough(asked, audience)) continue;
      this.#position = page.end;
      const streams = [...this.#streams];
      await tellAll(audience, page.entries, shares);
      for (const stream of streams)
        if (comparePositions(stream.position, page.end) < 0) stream.position = page.end;
      if (!page.hasMore) return page.isSettled;
    }
  }
}
