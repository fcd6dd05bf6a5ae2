import { ApiError } from '@backlot/contract';
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions<Value extends object> {
  /** Asks the owner of the truth; null for what does not exist. */
  load(key: string): Promise<Value | null>;
  /** Epoch milliseconds. */
  now: () => number;
  maxEntries: number;
  ttlMs: number;
  maxUnknown: number;
  unknownTtlMs: number;
  /** How long after its time a value still serves while the directory is down. */
  staleMs: number;
  /** False while events may be lost: then nothing is believed for longer than 2 seconds. */
  hears: () => boolean;
}

export interface LookupCache<Value extends object> {
  /** What is known without asking: a value, null for a known absence, undefined when it must be asked. */
  peek(key: string): Value | null | undefined;
  /** @throws ApiError unavailable when the directory does not answer and nothing usable is kept. */
  load(key: string): Promise<Value | null>;
  drop(key: string): void;
  /** Forgets all, because events may have been missed. */
  clear(): void;
}

interface Entry<Value> {
  value: Value;
  learnedAt: number;
  until: number;
  staleUntil: number;
}

/** How long anything is believed while the events that would end it may be lost. */
export const unheardTtlMs = 2000;

/** While the directory is down a kept value is used for this long before the directory is asked again. */
const retryMs = 1000;

/**
 * Remembers answers of a directory. Look-ups of one key at the same time are one call, and an answer
 * that was under way when its key was dropped is not kept, because it may be older than the event.
 */
export const createLookupCache = <Value extends object>(
  options: LookupCacheOptions<Value>,
): LookupCache<Value> => {
  const { now } = options;
  const known = new LRUCache<string, Entry<Value>>({ max: options.maxEntries });
  const unknown = new LRUCache<string, number>({ max: options.maxUnknown });
  const underWay = new Map<string, Promise<Value | null>>();

  const keep = (key: string, value: Value | null) => {
    if (value === null) {
      known.delete(key);
      unknown.set(key, now() + options.unknownTtlMs);
      return;
    }
    unknown.delete(key);
    known.set(key, {
      value,
      learnedAt: now(),
      until: now() + options.ttlMs,
      staleUntil: now() + options.ttlMs + options.staleMs,
    });
  };

  /** The value that still serves while the directory is down. */
  const keepStale = (key: string, cause: unknown): Value => {
    const entry = known.get(key);
    if (!entry || entry.staleUntil <= now()) {
      throw new ApiError(
        'unavailable',
        'The project can not be looked up right now. Try again shortly.',
        {
          cause,
          retryAfterSeconds: 2,
        },
      );
    }
    known.set(key, { ...entry, until: Math.min(now() + retryMs, entry.staleUntil) });
    return entry.value;
  };

  return {
    peek(key) {
      const entry = known.get(key);
      if (entry !== undefined) {
        const isFresh = options.hears() || now() - entry.learnedAt < unheardTtlMs;
        return isFresh && entry.until > now() ? entry.value : undefined;
      }
      const absentUntil = unknown.get(key);
      return absentUntil !== undefined && absentUntil > now() ? null : undefined;
    },
    load(key) {
      const running = underWay.get(key);
      if (running !== undefined) return running;
      const isCurrent = () => underWay.get(key) === asked;
      const asked: Promise<Value | null> = options
        .load(key)
        .then(
          (value) => {
            if (isCurrent()) keep(key, value);
            return value;
          },
          (cause: unknown) => keepStale(key, cause),
        )
        .finally(() => {
          if (isCurrent()) underWay.delete(key);
        });
      underWay.set(key, asked);
      return asked;
    },
    clear() {
      known.clear();
      unknown.clear();
      underWay.clear();
    },
    drop(key) {
      known.delete(key);
      unknown.delete(key);
      underWay.delete(key);
    },
  };
};
