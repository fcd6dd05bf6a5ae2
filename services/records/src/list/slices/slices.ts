import { FairShareFull, type YieldSlot } from '@backlot/fair-shares';
import type { Slice } from '../../query/slice-statement.ts';

export interface Slicing {
  /** How many the first piece has, and how many any has at most. */
  firstRows: number;
  mostRows: number;
  sliceMs: number;
  /** How long all pieces of one scan may take together. */
  workMs: number;
  /** Of the documents that a piece looks at, times the tests for each. Default 32 MiB. */
  sliceBytes?: number;
  /** How long a scan may take with what it waits for others between its pieces. Default 15 seconds. */
  patienceMs?: number;
  /** Scans like one that took no longer are quick. Default 20. */
  quickMs?: number;
}

export const usualSliceBytes = 32 * 1024 * 1024;
const usualPatienceMs = 15_000;

export const usualSlicing: Slicing = {
  firstRows: 4000,
  mostRows: 50_000,
  sliceMs: 50,
  workMs: 1000,
};

/** Where the primary key alone is looked at, a piece has so many times more rows. */
const keysPerRecord = 20;

export const keySlicing = (slicing: Slicing): Slicing => ({
  ...slicing,
  firstRows: slicing.firstRows * keysPerRecord,
  mostRows: slicing.mostRows * keysPerRecord,
});

export interface SliceEnd {
  /** The record that the following piece begins with; null behind the last one. */
  next: string | null;
  looked: number;
  isEnough?: boolean;
}

/** How much more rows a piece has than the one before, at most. */
const growth = 4;

/**
 * Walks through records piece by piece, each with as many rows as the one before managed in its time, and lets others
 * run in between. @returns whether it came to the end, before `scanRows` records and the time for all pieces
 * @throws FairShareFull where its turns would take longer than anybody waits
 */
export const walkInSlices = async (
  look: (slice: Slice) => Promise<SliceEnd>,
  scanRows: number,
  {
    firstRows,
    mostRows,
    sliceMs,
    workMs,
    sliceBytes = usualSliceBytes,
    patienceMs = usualPatienceMs,
  }: Slicing,
  yieldSlot: YieldSlot,
): Promise<boolean> => {
  const untilMs = performance.now() + patienceMs;
  let from: string | undefined;
  let rows = firstRows;
  let leftRows = scanRows;
  let workedMs = 0;
  while (leftRows > 0 && workedMs < workMs) {
    await yieldSlot();
    const startedAt = performance.now();
    if (startedAt >= untilMs) throw new FairShareFull(2 + Math.floor(Math.random() * 4));
    const { next, looked, isEnough } = await look({
      from,
      rows: Math.min(rows, leftRows),
      bytes: sliceBytes,
      ms: sliceMs,
    });
    const tookMs = performance.now() - startedAt;
    if (next === null || isEnough) return true;
    from = next;
    leftRows -= looked;
    workedMs += tookMs;
    const inTime = looked * Math.min(growth, sliceMs / tookMs);
    rows = Math.min(mostRows, Math.max(1, Math.floor(inTime)));
  }
  return false;
};
