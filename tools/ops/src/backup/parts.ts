import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Bytes that are known by their hash. */
export interface Part {
  sizeBytes: number;
  /** Hexadecimal. */
  sha256: string;
}

export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup';
}

/** Lets everything pass, and knows what passed. */
export const createMeter = () => {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, part: (): Part => ({ sizeBytes, sha256: hash.digest('hex') }) };
};

export type Source = AsyncIterable<Buffer | Uint8Array>;

/** On the disk when it resolves. */
export const writePart = async (
  path: string,
  source: Source,
  ...through: Transform[]
): Promise<Part> => {
  await mkdir(dirname(path), { recursive: true });
  const meter = createMeter();
  const target = createWriteStream(path, { mode: 0o600, flush: true });
  await pipeline([source, ...through, meter.stream, target]);
  return meter.part();
};

/** Of the file as it lies there. @throws DamagedBackup where there is none */
export const readPart = async (path: string): Promise<Part> => {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
  } catch (cause) {
    throw new DamagedBackup(`The part ${path} is missing or can not be read.`, { cause });
  }
  return { sizeBytes, sha256: hash.digest('hex') };
};

/** @throws DamagedBackup unless the bytes are those that were written */
export const checkPart = async (path: string, { sizeBytes, sha256 }: Part): Promise<void> => {
  const found = await readPart(path);
  if (found.sha256 === sha256) return;
  throw new DamagedBackup(
    `The part ${path} is damaged: ${found.sizeBytes} of ${sizeBytes} bytes, and not those that were written.`,
  );
};

/** Names are durable once their folder is synced. */
export const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
