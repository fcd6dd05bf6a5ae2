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
  /** What its records have cost. */
  fillMs: number;
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

/** Writers of its records wait for the end of a batch. */
export const batchMs = 20;

/**
 * Who commits waits until what a batch has logged is on the disk too. The p99 of four writers beside it was 6 to 8 ms
 * in most three seconds, 8 to 10 with 1,000 rows, and 3 to 4 before; it takes a tenth longer.
 */
const usualRows = 250;
/** However busy the machine is. */
const leastRows = 100;
/** As many of large documents are read in that time. */
const batchBytes = 4 * 1024 * 1024;
const growth = 2;
const maxRemembered = 1000;

/** What takes longer has mostly waited, and kept no core busy. */
const maxRestMs = 200;

export const createPace = ({
  mostRows = usualRows,
  sleep = (ms) => wait(ms),
}: PaceOptions): Pace => {
  const sizes = new LRUCache<string, number>({ max: maxRemembered });
  const learn = (collection: string, { rows, bytes, fillMs }: Batch) => {
    const inTime = rows * Math.min(growth, batchMs / fillMs);
    const inBytes = (rows * batchBytes) / bytes;
    const next = Math.min(mostRows, inBytes, Math.max(leastRows, inTime));
    sizes.set(collection, Math.max(1, Math.floor(next)));
  };
  return {
    rows: (collection) => sizes.get(collection) ?? Math.min(leastRows, mostRows),
    async rest(collection, batch, ms) {
      if (batch.rows > 0) learn(collection, batch);
      await sleep(Math.min(ms, maxRestMs));
    },
  };
};
