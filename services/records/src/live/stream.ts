import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { isOf } from '../change-log/feed.ts';
import { judge, type KnownShares, type Watch } from '../change-log/judge.ts';
import { comparePositions, type LogPosition } from '../change-log/position.ts';
import type { LogEntry } from '../change-log/read-log.ts';
import { type Asked, isMarked, toWatch, watchMark } from '../change-log/watched-collection.ts';
import type { Collection } from '../collections/collections.ts';
import { toIso } from '../timestamps.ts';
import type { EventQueue } from './event-queue.ts';

export type FindCollection = (projectNumber: number, name: string) => Promise<Collection | null>;

/** Why a stream begins anew: what its client holds may not be true any more. */
export type ResetReason = 'access' | 'expired' | 'slow';
export type EndReason = 'access' | 'restart' | 'stalled';

/** Signs where a stream is; the same for all streams with this mark. */
export type SignPosition = (position: LogPosition, mark: string) => string;

interface Watched extends Watch {
  collection: Collection;
  /** Callers with the same one are told the same. */
  key: string;
}

export interface Stream {
  identity: Identity;
  asked: readonly Asked[];
  queue: EventQueue;
  /** Entries before it were told, or are nothing to it. */
  position: LogPosition;
}

const frame = (event: string, data: object, id: string) =>
  `${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Whether it depends on who the caller is what they are told. */
const dependsOnCaller = ({ rights, fields }: Watch['access']): boolean =>
  typeof rights.read !== 'string' || fields.hidden.some(({ policy }) => policy !== 'none');

const toKey = (watch: Watch, name: string): string => {
  const { access, filter, ownerId, groupId } = watch;
  const { userId, role, groups } = access;
  const caller = dependsOnCaller(access) ? [userId, role, groups] : [];
  const hidden = access.fields.hidden.map(({ field }) => field);
  return JSON.stringify([name, access.rights.read, hidden, filter, ownerId, groupId, caller]);
};

const changeFrame = (name: string, watch: Watched, entry: LogEntry, shares: KnownShares) => {
  const told = judge(watch, entry, shares);
  if (!told) return undefined;
  const { type, record } = told;
  const { position, recordId: id, changedAt } = entry;
  const rest = { collection: name, seq: position.seq, type, id, changedAt: toIso(changedAt) };
  const text = JSON.stringify(rest);
  const data = record === undefined ? text : `${text.slice(0, -1)},"record":${record}}`;
  return `event: change\ndata: ${data}\n\n`;
};

/** One caller's stream of events: what they watch, and how far they were told of it. */
export class LiveStream implements Stream {
  readonly identity: Identity;
  readonly asked: readonly Asked[];
  readonly queue: EventQueue;
  position: LogPosition;
  readonly #sign: SignPosition;
  readonly #names: string;
  #marks: string[] = [];
  #watched = new Map<number, Watched>();

  constructor(parts: Stream, sign: SignPosition) {
    this.identity = parts.identity;
    this.asked = parts.asked;
    this.queue = parts.queue;
    this.position = parts.position;
    this.#sign = sign;
    const hash = createHash('sha256').update(JSON.stringify(parts.asked));
    this.#names = hash.digest('base64url').slice(0, 12);
  }

  /** Says what decides which records they are told of, besides those. */
  get mark(): string {
    return [this.#names, ...this.#marks].join('.');
  }

  get collectionIds(): number[] {
    return [...this.#watched.keys()];
  }

  /** Of whom shares are asked for. */
  get sharesOf(): string | undefined {
    const asks = [...this.#watched.values()].some(({ access }) => access.compiled.uses.shared);
    return asks ? (this.identity.userId ?? undefined) : undefined;
  }

  /** What was asked for and nobody has made yet. */
  get awaited(): string[] {
    const made = new Set([...this.#watched.values()].map(({ collection }) => collection.name));
    return this.asked.map(({ name }) => name).filter((name) => !made.has(name));
  }

  /**
   * Looks again at what they watch. Answers whether what a client holds is still right, which began with this mark.
   * @throws ApiError unauthenticated, forbidden, invalid_query, invalid_where, conflict
   */
  async resolve(find: FindCollection, before: string = this.mark): Promise<boolean> {
    const { identity } = this;
    const { number } = identity.project;
    const found = await Promise.all(this.asked.map(({ name }) => find(number, name)));
    const watched = new Map<number, Watched>();
    for (const [index, collection] of found.entries()) {
      const asked = this.asked[index];
      if (!collection || !asked) continue;
      const watch = toWatch(collection, asked, identity);
      watched.set(collection.id, { ...watch, collection, key: toKey(watch, asked.name) });
    }
    const marks = found.map((collection) => watchMark(collection, identity));
    const [names, ...marksBefore] = before.split('.');
    this.#watched = watched;
    this.#marks = marks;
    return names === this.#names && marks.every((mark, n) => isMarked(marksBefore[n], mark));
  }

  /** Numbers of the collections, each with a text that all have who are told the same of it. */
  get watchedAs(): [number, string][] {
    return [...this.#watched].map(([id, { key }]) => [id, key]);
  }

  /** What an entry is to all who watch as they do; undefined where it is nothing. */
  toFrame(entry: LogEntry, shares: KnownShares): string | undefined {
    const watched = this.#watched.get(entry.collectionId);
    if (!watched || !isOf(watched.collection, entry)) return undefined;
    return changeFrame(watched.collection.name, watched, entry, shares);
  }

  tell(entry: LogEntry, told: string): void {
    if (this.queue.isEnded || comparePositions(this.position, entry.position) >= 0) return;
    this.position = entry.position;
    const id = this.#sign(entry.position, this.mark);
    if (!this.queue.push(`id: ${id}\n${told}`)) this.reset('slow');
  }

  /** What of it can be gone on behind; of channels alone nothing is. */
  get #id(): string {
    if (this.asked.length === 0) return '';
    return `id: ${this.#sign(this.position, this.mark)}\n`;
  }

  ready(told: object): void {
    this.queue.push(`retry: 1000\n${frame('ready', told, this.#id)}`);
  }

  /** What was not sent yet is not sent any more: the client reads all that it holds anew. */
  reset(reason: ResetReason, position = this.position): void {
    this.position = position;
    this.queue.clear();
    this.beginAnew(reason);
  }

  beginAnew(reason: ResetReason): void {
    this.queue.push(frame('reset', { reason }, this.#id));
  }

  /** A comment, and where the stream is: what was nothing to it need not be read again. */
  beat(): void {
    if (this.queue.bytes > 0) return;
    this.queue.push(`:\n${this.#id}\n`);
  }

  end(reason: EndReason): void {
    this.queue.push(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.queue.end();
  }

  /** As `resolve`, of a stream under way. */
  async refresh(find: FindCollection): Promise<void> {
    try {
      if (!(await this.resolve(find))) this.reset('access');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.end('access');
    }
  }
}
