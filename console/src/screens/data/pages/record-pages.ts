import { findFields, type Row, toRow } from './cell-values.ts';
import { HeldPages, type Place } from './held-pages.ts';
import type { PageSource } from './page-source.ts';

export const pageRows = 200;
/** Of a page that is passed over on the way to a far row: as many as the API gives at once. */
const passedRows = 1000;

/**
 * The rows of a list of any length, read page by page around what is looked at, from whichever end is nearer.
 * Far pages are let go; their cursors stay.
 */
export class RecordPages {
  error: Error | null = null;
  /** Of the first page, once it is there. */
  fields: ReadonlyMap<string, readonly string[]> | undefined;
  /** Grows with each change, for who shows it. */
  version = 0;
  readonly #source: PageSource;
  readonly #held = new HeldPages();
  readonly #listeners = new Set<() => void>();
  #wanted: [first: number, last: number] = [0, pageRows - 1];
  #isReading = false;
  #abort = new AbortController();

  constructor(source: PageSource) {
    this.#source = source;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly readVersion = (): number => this.version;

  /** Reads the first page and the count. */
  start(): void {
    if (this.#held.total === null) this.#count();
    void this.#read();
  }

  /** What is under way is given up; it can start again. */
  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#isReading = false;
  }

  /** Undefined while it is on its way; null of a record that is gone. */
  rowAt(index: number): Row | null | undefined {
    return this.#held.rowAt(index);
  }

  /** Rows that are known to be in the list, at most what is kept. */
  indexWith(id: string, [first, last]: readonly [number, number]): number {
    for (let index = first; index <= last; index++) if (this.rowAt(index)?.id === id) return index;
    return -1;
  }

  /** Null until something is known. */
  get total(): number | null {
    return this.#held.total;
  }
  get isApproximate(): boolean {
    return this.#held.isApproximate;
  }
  /** How many rows there are to scroll through, as far as is known. */
  get length(): number {
    return this.#held.length;
  }
  get isEmpty(): boolean {
    const { hasEnded, extent } = this.#held.top;
    return hasEnded && extent === 0;
  }
  get hasBegun(): boolean {
    const { hasEnded, extent } = this.#held.top;
    return hasEnded || extent > 0;
  }
  /** Rows that are held, for tests. */
  get heldRows(): number {
    return this.#held.rows;
  }
  /** A far row that is being looked for. */
  get lookedFor(): number | null {
    const [first] = this.#wanted;
    const isFar = !this.#held.find(first) && first > this.#held.top.extent;
    return this.#isReading && isFar ? first : null;
  }

  /** Says which rows are looked at. */
  want(first: number, last: number): void {
    this.#wanted = [first, last];
    this.#held.touch(this.#wanted);
    void this.#read();
  }

  /** Shows a record as it is now, in place of what was read; null: it is gone. */
  put(id: string, record: Row | null): void {
    this.#held.put(id, record);
    this.#tell();
  }

  /** Shows what is gone as it was read. */
  showGone(): void {
    this.#held.showGone();
    this.#tell();
  }

  readonly again = (): void => {
    this.error = null;
    this.#tell();
    void this.#read();
  };

  #tell(): void {
    this.version += 1;
    for (const listener of this.#listeners) listener();
  }

  #count(): void {
    const { signal } = this.#abort;
    this.#source
      .count(signal)
      .then(({ count, approximate }) => {
        if (signal.aborted) return;
        this.#held.counted(count, approximate === true);
        this.#tell();
      })
      // The list says the same, or knows its length once it has been read to the end.
      .catch(() => {});
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.error) return;
    this.#isReading = true;
    const { signal } = this.#abort;
    const missing = () => this.#held.missing(this.#wanted);
    try {
      for (let index = missing(); index !== undefined; index = missing()) {
        await this.#readTowards(index, signal);
        if (signal.aborted) return;
        this.#held.letGo();
        this.#tell();
      }
    } catch (error) {
      if (!signal.aborted) this.error = error as Error;
    } finally {
      if (!signal.aborted) {
        this.#isReading = false;
        this.#tell();
      }
    }
  }

  async #readTowards(index: number, signal: AbortSignal): Promise<void> {
    const place = this.#held.find(index);
    if (place) return this.#readAgain(place, signal);
    const { top, bottom, length, total } = this.#held;
    const fromTop = index - top.extent;
    const fromBottom = length - 1 - index - bottom.extent;
    const canReverse = this.#source.isReversible && total !== null && !bottom.hasEnded;
    const side = canReverse && fromBottom < fromTop ? bottom : top;
    const distance = Math.min(fromTop, canReverse ? fromBottom : fromTop);
    const isPassedOver = distance > passedRows;
    const request = {
      isReverse: side.isReverse,
      cursor: side.cursors[side.starts.length - 1],
      limit: isPassedOver ? passedRows : pageRows,
      isPassedOver,
    };
    const { items, nextCursor } = await this.#source.read(request, signal);
    if (signal.aborted) return;
    const rows = isPassedOver ? null : items.map(toRow);
    if (rows) this.fields ??= findFields(rows);
    this.#held.append(side, { length: items.length, nextCursor }, rows);
  }

  /** A page that was passed over or let go. */
  async #readAgain({ side, position }: Place, signal: AbortSignal): Promise<void> {
    const page = side.pageAt(position);
    const request = {
      isReverse: side.isReverse,
      cursor: side.cursors[page],
      limit: side.span(page),
      isPassedOver: false,
    };
    const { items } = await this.#source.read(request, signal);
    if (!signal.aborted) this.#held.replace(side, page, items.map(toRow));
  }
}
