/** Of a document with more values than this the text is not looked through. */
const maxValues = 4096;

/** Strings of this length are written as JSON at a time, so that none of them is a large object to V8. */
const stretch = 16 * 1024;

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;

/** Reads a text as long as it is what JSON.stringify would write. */
class Comparison {
  readonly #text: string;
  #values = 0;
  end: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.end = start;
  }

  #skip(token: string): boolean {
    if (!this.#text.startsWith(token, this.end)) return false;
    this.end += token.length;
    return true;
  }

  value(value: unknown): boolean {
    this.#values += 1;
    if (this.#values > maxValues) return false;
    if (typeof value === 'string') return this.#string(value);
    if (typeof value !== 'object' || value === null) return this.#skip(JSON.stringify(value));
    if (Array.isArray(value))
      return this.#list('[', value, (item) => this.value(item)) && this.#skip(']');
    const isSame = this.#list(
      '{',
      Object.entries(value),
      ([key, item]) => this.#string(key) && this.#skip(':') && this.value(item),
    );
    return isSame && this.#skip('}');
  }

  #list<Item>(opening: string, items: readonly Item[], read: (item: Item) => boolean): boolean {
    if (items.length > maxValues || !this.#skip(opening)) return false;
    return items.every((item, index) => (index === 0 || this.#skip(',')) && read(item));
  }

  #string(value: string): boolean {
    if (!this.#skip('"')) return false;
    for (let at = 0; at < value.length; ) {
      let next = Math.min(at + stretch, value.length);
      // Half a pair would be written as an escape.
      if (next < value.length && isHighSurrogate(value.charCodeAt(next - 1))) next += 1;
      if (!this.#skip(JSON.stringify(value.slice(at, next)).slice(1, -1))) return false;
      at = next;
    }
    return this.#skip('"');
  }
}

/**
 * What JSON.stringify makes of a value, as a part of the text that it was parsed from; undefined where the
 * text has something else at `start`.
 */
export const sentJson = (value: unknown, text: string, start: number): string | undefined => {
  const comparison = new Comparison(text, start);
  return comparison.value(value) ? text.slice(start, comparison.end) : undefined;
};
