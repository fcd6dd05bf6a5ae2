import { CallFailed } from './api.ts';

/** Lines of a file that go together. */
export interface Part {
  /** From 1 on; `next` is that of the line behind the last. */
  firstLine: number;
  next: number;
  bytes: Buffer;
}

const usualPartBytes = 4 * 1024 * 1024;
const mostPartBytes = 16 * usualPartBytes;
const newline = 0x0a;
const quote = 0x22;

/**
 * Cuts a file into parts of whole lines, of CSV of whole rows, the first of which is its header alone.
 * @throws CallFailed where a line has no end
 */
export async function* readParts(
  source: AsyncIterable<Buffer>,
  isCsv: boolean,
  partBytes = usualPartBytes,
): AsyncGenerator<Part> {
  let held: Buffer[] = [];
  let size = 0;
  let line = 1;
  let firstLine = 1;
  let isQuoted = false;
  const take = (): Part => {
    const part = { firstLine, next: line, bytes: Buffer.concat(held) };
    held = [];
    size = 0;
    firstLine = line;
    return part;
  };
  const hold = (bytes: Buffer) => {
    held.push(bytes);
    size += bytes.length;
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === quote && isCsv) isQuoted = !isQuoted;
      if (byte !== newline) continue;
      line += 1;
      const isHeader = isCsv && firstLine === 1;
      const isFull = size + at + 1 - start >= partBytes;
      if (isQuoted || !(isHeader || isFull)) continue;
      hold(chunk.subarray(start, at + 1));
      start = at + 1;
      yield take();
    }
    hold(chunk.subarray(start));
    if (size > mostPartBytes)
      throw new CallFailed(
        `Line ${firstLine} and what follows has no end.`,
        isCsv ? 'Is a quotation mark missing?' : '',
      );
  }
  if (size > 0) {
    line += 1;
    yield take();
  }
}
