/** What all queues of a process may hold together; past it those with more than a small part begin anew. */
export interface UnsentBytes {
  total: number;
}

const maxUnsentBytes = 1024 * 1024;
const maxUnsentInAll = 128 * 1024 * 1024;
const smallPart = 64 * 1024;
/** Given to the connection at once. */
const chunkBytes = 64 * 1024;

/** Texts that wait for a connection that takes them at its own pace. */
export class EventQueue implements AsyncIterable<string> {
  readonly #shared: UnsentBytes;
  #texts: string[] = [];
  #bytes = 0;
  #isEnded = false;
  #onChange: () => void = () => {};
  /** Milliseconds of when it was empty or something was taken last. */
  takenAt: number;

  constructor(shared: UnsentBytes, now: number) {
    this.#shared = shared;
    this.takenAt = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether there was room for it. */
  push(text: string): boolean {
    if (this.#isEnded) return true;
    const bytes = this.#bytes + text.length;
    const isFull =
      bytes > maxUnsentBytes || (this.#shared.total > maxUnsentInAll && bytes > smallPart);
    if (isFull && this.#bytes > 0) return false;
    this.#texts.push(text);
    this.#count(text.length);
    this.#onChange();
    return true;
  }

  clear(): void {
    this.#texts = [];
    this.#count(-this.#bytes);
  }

  /** What is in it is still sent. */
  end(): void {
    this.#isEnded = true;
    this.#onChange();
  }

  #count(bytes: number) {
    this.#bytes += bytes;
    this.#shared.total += bytes;
  }

  #take(): string {
    let length = 0;
    let count = 0;
    while (count < this.#texts.length && length < chunkBytes)
      length += this.#texts[count++]?.length ?? 0;
    const taken = this.#texts.splice(0, count).join('');
    this.#count(-taken.length);
    this.takenAt = performance.now();
    return taken;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        if (this.#texts.length > 0) yield this.#take();
        else if (this.#isEnded) return;
        else
          await new Promise<void>((resolve) => {
            this.#onChange = resolve;
          });
      }
    } finally {
      this.#isEnded = true;
      this.clear();
    }
  }
}
