import { LRUCache } from 'lru-cache';

export interface RecentCountsOptions {
  /** What was counted fades with this time constant: 1/e of it is left after a window. */
  windowMs: number;
  /** Keys that are remembered; the longest unused one is forgotten first. */
  maxKeys: number;
  /** Milliseconds, from any start. */
  now: () => number;
}

export interface RecentCount {
  allowed: boolean;
  /** Counted before this one, rounded down; it fades, so it is a rate as much as a number. */
  before: number;
  /** 0 when allowed. */
  retryAfterMs: number;
}

/**
 * How often something happened lately, in this process's memory: a burst of `limit`, then `limit` a
 * window, as with the rate counters; and unlike theirs what it says is also how much a key has used.
 */
export interface RecentCounts {
  /** Counts one more, unless `limit` is reached. */
  take(key: string, limit: number): RecentCount;
  /** One that was taken counts as so many more. */
  add(key: string, more: number): void;
  /** What was taken does not count after all. */
  giveBack(key: string, count: number): void;
}

interface Entry {
  count: number;
  at: number;
}

export const createRecentCounts = ({
  windowMs,
  maxKeys,
  now,
}: RecentCountsOptions): RecentCounts => {
  const entries = new LRUCache<string, Entry>({ maxSize: maxKeys, sizeCalculation: () => 1 });
  const readEntry = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (!entry) return undefined;
    const at = now();
    entry.count *= Math.exp(Math.min(0, entry.at - at) / windowMs);
    entry.at = at;
    return entry;
  };
  return {
    take(key, limit) {
      const entry = readEntry(key);
      const count = entry?.count ?? 0;
      const before = Math.floor(count);
      if (count + 1 > limit + 1e-6) {
        const waitMs = limit < 1 ? windowMs : windowMs * Math.log(count / (limit - 1 + 1e-6));
        return { allowed: false, before, retryAfterMs: Math.max(1, Math.ceil(waitMs)) };
      }
      if (entry) entry.count += 1;
      else entries.set(key, { count: 1, at: now() });
      return { allowed: true, before, retryAfterMs: 0 };
    },
    add(key, more) {
      const entry = readEntry(key);
      if (entry) entry.count += more;
    },
    giveBack(key, count) {
      const entry = readEntry(key);
      if (entry) entry.count = Math.max(0, entry.count - count);
    },
  };
};
