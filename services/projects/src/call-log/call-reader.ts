import { type CallFilter, fitsCall } from './filter.ts';
import type { NumberedItem } from './read-calls.ts';

/** A reader who takes nothing for so long is cut off. */
const stalledAfterMs = 60_000;
/** Past so many that were not sent, or missed, a stream begins anew. */
export const maxUnsent = 1000;
/** All readers of a process; past it those with more than a small part begin anew. */
const maxUnsentInAll = 50_000;
const smallPart = 50;

/** Texts that all readers of a process hold. */
export interface Unsent {
  count: number;
}

export const frame = (event: string, data: object, line?: number) =>
  `${line === undefined ? '' : `id: ${line}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** One reader: what is to be sent, in order. */
export class CallReader {
  readonly filter: CallFilter;
  readonly #shared: Unsent;
  #unsent: string[] = [];
  #isEnded = false;
  #wake: () => void = () => {};
  #takenAt = performance.now();

  constructor(filter: CallFilter, shared: Unsent) {
    this.filter = filter;
    this.#shared = shared;
  }

  tell({ line, item }: NumberedItem): void {
    if (!fitsCall(item, this.filter)) return;
    const { type, ...rest } = item;
    const count = this.#unsent.length;
    const isFull = count >= maxUnsent || (count > smallPart && this.#shared.count > maxUnsentInAll);
    if (isFull) this.#take();
    this.push(isFull ? frame('reset', { reason: 'slow' }, line) : frame(type, rest, line));
  }

  push(text: string): void {
    if (this.#isEnded) return;
    if (this.#unsent.length === 0) this.#takenAt = performance.now();
    this.#unsent.push(text);
    this.#shared.count += 1;
    this.#wake();
  }

  beat(): void {
    if (this.#unsent.length === 0) this.push(':\n\n');
    else if (performance.now() - this.#takenAt > stalledAfterMs) this.end('stalled');
  }

  end(reason?: 'restart' | 'stalled'): void {
    if (reason) this.push(frame('end', { reason }));
    this.#isEnded = true;
    this.#wake();
  }

  #take(): string[] {
    const texts = this.#unsent.splice(0);
    this.#shared.count -= texts.length;
    return texts;
  }

  /** Nobody reads any more. */
  close(): void {
    this.#isEnded = true;
    this.#take();
    this.#wake();
  }

  async *texts(): AsyncGenerator<string> {
    for (;;) {
      const texts = this.#take();
      if (texts.length > 0) yield texts.join('');
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
