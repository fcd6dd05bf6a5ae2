import { type Row, toRow } from './cell-values.ts';
import { Side } from './side.ts';

/** Of both sides together; the one that was looked at longest ago is let go. */
export const keptPages = 12;
/** Rows that show otherwise than they were read. */
const maxChanged = 2000;

export interface Place {
  side: Side;
  position: number;
}

/** What of a list is held, read from its top and from its bottom, and how long it is as far as is known. */
export class HeldPages {
  /** Null until something is known. */
  total: number | null = null;
  isApproximate = false;
  readonly top = new Side(false);
  readonly bottom = new Side(true);
  readonly #changed = new Map<string, Row | null>();
  /** Of looks: what was looked at last is kept. */
  clock = 0;

  /** How many rows there are to scroll through, as far as is known. */
  get length(): number {
    const { extent, hasEnded } = this.top;
    if (hasEnded) return extent;
    return Math.max(this.total ?? 0, extent + (extent > 0 ? 1 : 0));
  }

  /** Rows that are held. */
  get rows(): number {
    return [this.top, this.bottom].reduce(
      (sum, { pages }) =>
        sum + [...pages.values()].reduce((rows, { items }) => rows + items.length, 0),
      0,
    );
  }

  find(index: number): Place | undefined {
    if (index < this.top.extent) return { side: this.top, position: index };
    const position = this.length - 1 - index;
    if (position >= 0 && position < this.bottom.extent) return { side: this.bottom, position };
    return undefined;
  }

  /** Undefined while it is on its way; null of a record that is gone. */
  rowAt(index: number): Row | null | undefined {
    const place = this.find(index);
    if (!place?.side.isLoaded(place.position)) return undefined;
    const row = place.side.rowAt(place.position) ?? null;
    const changed = row && this.#changed.get(row.id);
    return changed === undefined ? row : changed;
  }

  /** The first of these rows that is not there. */
  missing([first, last]: readonly [number, number]): number | undefined {
    for (let index = first; index <= Math.min(last, Math.max(this.length - 1, 0)); index++) {
      const place = this.find(index);
      if (!place?.side.isLoaded(place.position)) {
        if (!place && this.top.hasEnded) return undefined;
        return index;
      }
    }
    return undefined;
  }

  touch(indexes: readonly number[]): void {
    this.clock += 1;
    for (const index of indexes) {
      const place = this.find(index);
      const page = place?.side.pages.get(place.side.pageAt(place.position));
      if (page) page.usedAt = this.clock;
    }
  }

  /** Shows a record as it is now, in place of what was read; null: it is gone. */
  put(id: string, record: Row | null): void {
    this.#changed.set(id, record && toRow(record));
  }

  showGone(): void {
    for (const [id, record] of this.#changed) if (record === null) this.#changed.delete(id);
  }

  counted(count: number, isApproximate: boolean): void {
    if (this.top.hasEnded) return;
    this.total = Math.max(count, this.top.extent);
    this.isApproximate = isApproximate;
  }

  /** A page behind the last one of a side. @param items null where it was passed over */
  append(
    side: Side,
    answer: { length: number; nextCursor: string | null },
    items: readonly Row[] | null,
  ): void {
    side.append(answer, items, this.clock);
    if (!side.hasEnded) return;
    // Who has read to the end knows how many there are.
    this.total = side.isReverse ? Math.max(side.extent, this.top.extent) : side.extent;
    this.isApproximate = false;
  }

  /** A page that was passed over or let go is there again. */
  replace(side: Side, page: number, items: readonly Row[]): void {
    side.pages.set(page, { items, usedAt: this.clock });
    for (const { id } of items) this.#changed.delete(id);
  }

  letGo(): void {
    const all = [this.top, this.bottom].flatMap(({ pages }) =>
      [...pages].map(([index, { usedAt }]) => ({ pages, index, usedAt })),
    );
    all.sort((a, b) => a.usedAt - b.usedAt);
    for (const { pages, index } of all.slice(0, Math.max(0, all.length - keptPages)))
      pages.delete(index);
    for (const id of [...this.#changed.keys()].slice(0, -maxChanged)) this.#changed.delete(id);
  }
}
