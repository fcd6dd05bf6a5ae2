const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, comma] = [code('"'), code('\\'), code(',')];
const [list, listEnd, object, objectEnd] = [code('['), code(']'), code('{'), code('}')];
const lastSpace = code(' ');

/** The object itself is at depth 1, its lists at depth 2. */
const listDepth = 2;

/** Counts the items of the lists in a JSON object as it comes, so that no large body holds others up. */
export class ItemCounter {
  /** At least as many as JSON.parse finds in the lists, whatever their names; anything where it is no JSON. */
  items = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isItemNext = false;

  push(chunk: Buffer): void {
    let index = 0;
    while (index < chunk.length) {
      index = this.#isInString ? this.#skipString(chunk, index) : this.#skipTokens(chunk, index);
    }
  }

  /** From inside a string; both answer the index of what comes behind, or the chunk's end. */
  #skipString(chunk: Buffer, start: number): number {
    let index = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      index += 1;
    }
    for (; index < chunk.length; index++) {
      const byte = chunk[index];
      if (byte === quote) {
        this.#isInString = false;
        return index + 1;
      }
      if (byte === backslash) index += 1;
    }
    this.#isEscaped = index > chunk.length;
    return chunk.length;
  }

  #skipTokens(chunk: Buffer, start: number): number {
    let depth = this.#depth;
    let isItemNext = this.#isItemNext;
    let items = this.items;
    let index = start;
    while (index < chunk.length && !this.#isInString) {
      const byte = chunk[index++] ?? 0;
      if (byte <= lastSpace) continue;
      const isEnd = byte === listEnd || byte === objectEnd;
      const isOpening = byte === list || byte === object;
      if (isItemNext && !isEnd) items += 1;
      if (isEnd) depth -= 1;
      if (isOpening) depth += 1;
      if (byte === quote) this.#isInString = true;
      isItemNext = depth === listDepth && (isOpening || byte === comma);
    }
    this.#depth = depth;
    this.#isItemNext = isItemNext;
    this.items = items;
    return index;
  }
}
