/** Whole lines of a file that go together. */
export interface Part {
  /** From 1 on; `next` is that of the line behind the last. */
  firstLine: number;
  next: number;
  bytes: Blob;
  /** Where it ends in the file. */
  endByte: number;
}

const partBytes = 1024 * 1024;
/** Of one line, and of a quotation that is never closed. */
const mostPartBytes = 16 * partBytes;
const newline = 0x0a;
const quote = 0x22;

/**
 * Cuts a file into parts of whole lines, of CSV of whole rows, the first of which is its header alone.
 * @throws Error where a line has no end
 */
export async function* readParts(file: Blob, isCsv: boolean): AsyncGenerator<Part> {
  let startByte = 0;
  let line = 1;
  let firstLine = 1;
  let isQuoted = false;
  const take = (endByte: number): Part => {
    const part = { firstLine, next: line, bytes: file.slice(startByte, endByte), endByte };
    startByte = endByte;
    firstLine = line;
    return part;
  };
  for (let chunkStart = 0; chunkStart < file.size; chunkStart += partBytes) {
    const chunk = new Uint8Array(
      await file.slice(chunkStart, chunkStart + partBytes).arrayBuffer(),
    );
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === quote && isCsv) isQuoted = !isQuoted;
      if (byte !== newline) continue;
      line += 1;
      const end = chunkStart + at + 1;
      const isHeader = isCsv && firstLine === 1;
      if (!isQuoted && (isHeader || end - startByte >= partBytes)) yield take(end);
    }
    if (chunkStart + chunk.length - startByte > mostPartBytes)
      throw new Error(
        `Line ${firstLine} and what follows has no end.${isCsv ? ' Is a quotation mark missing?' : ''}`,
      );
  }
  if (startByte < file.size) {
    line += 1;
    yield take(file.size);
  }
}
