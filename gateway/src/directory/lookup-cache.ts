import { ApiError } from '@backlot/contract';
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions<Value extends object, Context> {
  /** Asks the owner of the truth; null for what does not exist. */
  load(key: string, context: Context): Promise<Value | null>;
  /** Epoch milliseconds. */
  now: () => number;
  maxEntries: number;
  ttlMs: number;
  /** When a value ends by itself, in epoch milliseconds. */
  expiresAt?: (value: Value) => number;
  maxAbsent: number;
  absentTtlMs: number;
  /** How long after its time a value still serves while the directory is down. */
  staleMs: number;
  /** False while events may be lost: then nothing is believed for longer than 2 seconds. */
  eventsConnected: () => boolean;
}

export interface LookupCache<Value extends object, Context = void> {
  /** What is known without asking: a value, null for a known absence, undefined when it must be asked. */
  peek(key: string): Value | null | undefined;
  /** @throws ApiError unavailable when the directory does not answer and nothing usable is kept. */
  load(key: string, context: Context): Promise<Value | null>;
  drop(key: string): void;
  /** Forgets all, because events may have been missed. */
  clear(): void;
}

interface Entry<Value> {
  value: Value | null;
  loadedAt: number;
  expiresAt: number;
}

const disconnectedTtlMs = 2000;
/** While the directory is down a kept value is used for this long before the directory is asked again. */
const retryMs = 1000;

const translateLoadError = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError(
        'unavailable',
        'The project can not be looked up right now. Try again shortly.',
        {
          cause,
          retryAfterSeconds: 2,
        },
      );

/** Remembers answers of a directory. Look-ups of one key at the same time are one call. */
export const createLookupCache = <Value extends object, Context = void>(
  options: LookupCacheOptions<Value, Context>,
): LookupCache<Value, Context> => {
  const { now, ttlMs, staleMs, expiresAt = () => Number.POSITIVE_INFINITY } = options;

  const toEntry = (value: Value | null): Entry<Value> => {
    const loadedAt = now();
    const end = value
      ? Math.min(loadedAt + ttlMs, expiresAt(value))
      : loadedAt + options.absentTtlMs;
    return { value, loadedAt, expiresAt: end };
  };
  const extendStale = (stale: Entry<Value> | undefined, cause: unknown): Entry<Value> => {
    const staleUntil = (stale?.loadedAt ?? 0) + ttlMs + staleMs;
    if (!stale || staleMs === 0 || staleUntil <= now()) throw translateLoadError(cause);
    return { ...stale, expiresAt: Math.min(now() + retryMs, staleUntil) };
  };

  const entries = new LRUCache<string, Entry<Value>, { context: Context }>({
    maxSize: options.maxEntries,
    sizeCalculation: () => 1,
    // An answer under way when its key is dropped goes to those who wait, and is not kept: it may be
    // older than the event.
    ignoreFetchAbort: true,
    fetchMethod: (key, stale, { context, signal }) =>
      options
        .load(key, context.context)
        .then(toEntry, (cause: unknown) => extendStale(signal.aborted ? undefined : stale, cause)),
  });
  /** Apart, so that made-up keys push out nothing that exists. */
  const absences = new LRUCache<string, Entry<Value>>({
    maxSize: options.maxAbsent,
    sizeCalculation: () => 1,
  });

  return {
    peek(key) {
      const entry = entries.get(key) ?? absences.get(key);
      if (entry === undefined) return undefined;
      const at = now();
      if (entry.expiresAt <= at) return undefined;
      const isDue = entry.value !== null && at - entry.loadedAt >= disconnectedTtlMs;
      return isDue && !options.eventsConnected() ? undefined : entry.value;
    },
    async load(key, context) {
      const entry = await entries.fetch(key, { forceRefresh: true, context: { context } });
      if (entry?.value !== null) return entry?.value ?? null;
      if (entries.peek(key) === entry) {
        entries.delete(key);
        absences.set(key, entry);
      }
      return null;
    },
    clear() {
      entries.clear();
      absences.clear();
    },
    drop(key) {
      entries.delete(key);
      absences.delete(key);
    },
  };
};
