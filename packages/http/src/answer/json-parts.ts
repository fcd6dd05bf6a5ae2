import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { freeChunk } from '../body/free-chunk.ts';

/** A text, or its bytes in memory of its own, which nobody else may read. */
export type JsonPart = string | Buffer;

/** The text of a JSON answer that is too large to be held whole. */
export interface JsonParts {
  /** Asked for once the caller has taken the part before; undefined behind the last. */
  next(): Promise<JsonPart | undefined>;
  /** Called once all is taken, reading has failed, or the caller has gone. */
  close(): void;
}

export class LargeJson {
  readonly parts: JsonParts;
  constructor(parts: JsonParts) {
    this.parts = parts;
  }
}

/** A caller who takes nothing for so long is cut off. */
const stallMs = 15_000;
/** What is written at once: a caller who takes this much in time is slow, and stays. */
const chunkBytes = 64 * 1024;

/** Resolves to whether the connection has taken it. */
const writeChunk = (res: ServerResponse, chunk: Buffer, limitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (isTaken: boolean) => {
      clearTimeout(timer);
      res.off('close', onClose);
      resolve(isTaken);
    };
    const onClose = () => end(false);
    const timer = setTimeout(() => res.destroy(), limitMs);
    if (res.destroyed) return end(false);
    res.once('close', onClose);
    res.write(chunk, (error) => end(!error));
  });

const writePart = async (res: ServerResponse, part: Buffer, limitMs: number): Promise<boolean> => {
  for (let start = 0; start < part.length; start += chunkBytes) {
    const chunk = part.subarray(start, start + chunkBytes);
    if (!(await writeChunk(res, chunk, limitMs))) return false;
  }
  return true;
};

const nextBytes = async (next: JsonParts['next']): Promise<Buffer | undefined> => {
  const part = await next();
  return typeof part === 'string' ? Buffer.from(part) : part;
};

/**
 * Sends an answer at the caller's pace. What fails before the first part is thrown, and so is what fails
 * later: the answer is cut off then.
 */
export const sendParts = async (
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  { next, close }: JsonParts,
  limitMs = stallMs,
): Promise<void> => {
  try {
    let part = await nextBytes(next);
    if (res.destroyed) return;
    res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
    while (part) {
      if (!(await writePart(res, part, limitMs))) return;
      freeChunk(part);
      part = await nextBytes(next);
    }
    res.end();
  } finally {
    close();
  }
};
