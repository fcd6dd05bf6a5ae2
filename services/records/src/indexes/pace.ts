import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

export interface PaceOptions {
  mostRows?: number | undefined;
  sleep?: (ms: number) => Promise<unknown>;
}

export interface Batch {
  rows: number;
  bytes: number;
}

export interface Pace {
  /** How many rows the next batch of the collection should have. */
  rows(collection: string): number;
  /** Learns from a batch of so many ms, and rests as long: half of one connection's work is left to others. */
  rest(collection: string, batch: Batch, ms: number): Promise<void>;
}

/** Larger ones are no faster, and keep writers beside them waiting (docs/decisions/0022). */
const usualRows = 200;
/** Of large documents, which take longer to read. */
const batchBytes = 4 * 1024 * 1024;
const maxRemembered = 1000;

/** What takes longer has mostly waited, and kept no core busy. */
const maxRestMs = 200;

export const createPace = ({
  mostRows = usualRows,
  sleep = (ms) => wait(ms),
}: PaceOptions): Pace => {
  const sizes = new LRUCache<string, number>({ max: maxRemembered });
  return {
    rows: (collection) => sizes.get(collection) ?? mostRows,
    async rest(collection, { rows, bytes }, ms) {
      const inBytes = Math.max(1, Math.floor((rows * batchBytes) / bytes));
      if (rows > 0) sizes.set(collection, Math.min(mostRows, inBytes));
      await sleep(Math.min(ms, maxRestMs));
    },
  };
};
