import { FairShareFull, type YieldSlot } from '@backlot/fair-shares';
import type { Piece, PieceEnd } from '../query/piece-statement.ts';

export interface PieceBounds {
  /** How many the first piece has, and how many any has at most. */
  firstRows: number;
  mostRows: number;
  pieceMs: number;
  /** How long all pieces of one scan may take together. */
  workMs: number;
  /** Of the documents that a piece looks at, times the tests for each. Default 32 MiB. */
  pieceBytes?: number;
  /** How long a scan may take with what it waits for others between its pieces. Default 15 seconds. */
  patienceMs?: number;
  /** Scans like one that took no longer are quick. Default 20. */
  quickMs?: number;
}

export const usualPieceBytes = 32 * 1024 * 1024;
const usualPatienceMs = 15_000;

export const usualPieceBounds: PieceBounds = {
  firstRows: 4000,
  mostRows: 50_000,
  pieceMs: 50,
  workMs: 1000,
};

/** Where the primary key alone is looked at, a piece has so many times more rows. */
const keysPerRecord = 20;

export const keyPieceBounds = (bounds: PieceBounds): PieceBounds => ({
  ...bounds,
  firstRows: bounds.firstRows * keysPerRecord,
  mostRows: bounds.mostRows * keysPerRecord,
});

/** How much more rows a piece has than the one before, at most. */
const growth = 4;

/**
 * Walks through records piece by piece, each with as many rows as the one before managed in its time, and lets others
 * run in between. @returns whether it came to the end, before `scanRows` records and the time for all pieces
 * @throws FairShareFull where its turns would take longer than anybody waits
 */
export const walkPieces = async (
  look: (piece: Piece) => Promise<PieceEnd & { isEnough?: boolean }>,
  scanRows: number,
  {
    firstRows,
    mostRows,
    pieceMs,
    workMs,
    pieceBytes = usualPieceBytes,
    patienceMs = usualPatienceMs,
  }: PieceBounds,
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
      bytes: pieceBytes,
      ms: pieceMs,
    });
    const tookMs = performance.now() - startedAt;
    if (next === null || isEnough) return true;
    from = next;
    leftRows -= looked;
    workedMs += tookMs;
    const inTime = looked * Math.min(growth, pieceMs / tookMs);
    rows = Math.min(mostRows, Math.max(1, Math.floor(inTime)));
  }
  return false;
};
