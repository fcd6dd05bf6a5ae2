import type { Row } from './cell-values.ts';

interface Page {
  items: readonly Row[];
  usedAt: number;
}

/**
 * What is known of a list from one of its ends: where its pages begin, by which cursor each is read, and of some their
 * rows. Positions count from this end.
 */
export class Side {
  readonly isReverse: boolean;
  /** Where each page begins; the last entry is where the next one will. */
  readonly starts: number[] = [0];
  readonly cursors: (string | undefined)[] = [undefined];
  readonly pages = new Map<number, Page>();
  /** Whether the last page is there. */
  hasEnded = false;

  constructor(isReverse: boolean) {
    this.isReverse = isReverse;
  }

  /** How many rows it has passed. */
  get extent(): number {
    return this.starts.at(-1) ?? 0;
  }

  /** The page that a position lies in; -1 behind the last. */
  pageAt(position: number): number {
    if (position >= this.extent) return -1;
    let low = 0;
    let high = this.starts.length - 2;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  rowAt(position: number): Row | undefined {
    const index = this.pageAt(position);
    return this.pages.get(index)?.items[position - (this.starts[index] ?? 0)];
  }

  /** Whether its page is there; a record of it may be gone since. */
  isLoaded(position: number): boolean {
    return this.pages.has(this.pageAt(position));
  }

  span(index: number): number {
    return (this.starts[index + 1] ?? 0) - (this.starts[index] ?? 0);
  }

  /** A page behind the last one. @param items null where it was passed over */
  append(
    { length, nextCursor }: { length: number; nextCursor: string | null },
    items: readonly Row[] | null,
    now: number,
  ): void {
    const index = this.starts.length - 1;
    if (length > 0) {
      this.starts.push(this.extent + length);
      if (items) this.pages.set(index, { items, usedAt: now });
    }
    if (nextCursor === null) this.hasEnded = true;
    else this.cursors[this.starts.length - 1] = nextCursor;
  }
}
