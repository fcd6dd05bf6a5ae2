import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

export interface PaceOptions {
  /** Of any batch. */
  mostRows?: number | undefined;
  /** Waits for milliseconds. */
  sleep?: (ms: number) => Promise<unknown>;
}

export interface Batch {
  rows: number;
  /** Of its documents. */
  bytes: number;
}

export interface Pace {
  /** How many rows the next batch of the collection should have. */
  rows(collection: string): number;
  /**
   * Learns from a batch, and rests for as long as it took: half of one connection's work is left to others.
   * @param ms of the whole transaction
   */
  rest(collection: string, batch: Batch, ms: number): Promise<void>;
}

/**
 * Who commits waits until what a batch has logged is on the disk too, and who changes one of its records for its end;
 * a batch of any size has seven statements to plan and five round trips. 120,000 records took 32 s with 100 rows, 24
 * with 200 and with 300; the p99 of four writers beside them was 1.3, 1.2 and 1.6 times what it was before.
 */
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
