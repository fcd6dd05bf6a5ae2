import type { JsonParts } from '@backlot/http';
import { type Extract, extract, type Pack, pack } from 'tar-stream';
import { type Entry, invalidArchive } from './entry.ts';

type TarEntry = Extract extends AsyncIterable<infer One> ? One : never;

/** The same for all, so that equal projects have equal archives. */
const header = { mode: 0o644, mtime: new Date(0), type: 'file' as const };

/** What is written to. */
interface Sink {
  on(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
}

/** Whether it has ended meanwhile shows the next write. */
const drained = (sink: Sink) =>
  new Promise<void>((resolve) => {
    const done = () => {
      sink.off('drain', done);
      sink.off('close', done);
      resolve();
    };
    sink.on('drain', done);
    sink.on('close', done);
  });

const writeEntry = async (tar: Pack, { name, sizeBytes, content }: Entry) => {
  const written = Promise.withResolvers<void>();
  // What fails before it is awaited ends the stream all the same.
  written.promise.catch(() => {});
  const sink = tar.entry({ ...header, name, size: sizeBytes }, (error) =>
    error ? written.reject(error) : written.resolve(),
  );
  for await (const piece of content) {
    if (tar.destroyed) throw new Error('Who reads the archive has gone.');
    if (piece.byteLength > 0 && !sink.write(piece)) await drained(sink);
  }
  sink.end(undefined);
  await written.promise;
};

/** A tar of these entries, at the pace of who reads it. A part is freed once it was sent. */
export const writeTar = (entries: AsyncIterable<Entry>): JsonParts => {
  const tar = pack();
  const write = async () => {
    for await (const entry of entries) await writeEntry(tar, entry);
    tar.finalize();
  };
  write().catch((error: Error) => tar.destroy(error));
  const pieces = tar[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    async next() {
      const { done, value } = await pieces.next();
      // A copy: the end of all archives is one buffer.
      return done ? undefined : Buffer.from(value);
    },
    close: () => void tar.destroy(),
  };
};

const blockBytes = 512;
const endBytes = 2 * blockBytes;

/** @throws ApiError invalid_body where the end of a tar is missing */
async function* untilEnd(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let tail = Buffer.alloc(0);
  let sizeBytes = 0;
  for await (const chunk of source) {
    sizeBytes += chunk.byteLength;
    tail = Buffer.concat([tail, chunk.subarray(-endBytes)]).subarray(-endBytes);
    yield chunk;
  }
  const hasEnd = tail.length === endBytes && tail.every((byte) => byte === 0);
  if (!hasEnd || sizeBytes % blockBytes !== 0) throw invalidArchive('it ends too early.');
}

async function* contentOf(entry: TarEntry): AsyncGenerator<Uint8Array> {
  for await (const piece of entry) yield piece as Uint8Array;
}

/** Plain files alone: links, folders and what extends a header are nothing that an export writes. */
const readHeader = ({ header: { name, type, size, pax } }: TarEntry) => {
  if (type !== 'file' || pax) throw invalidArchive(`${JSON.stringify(name)} is not a plain file.`);
  return { name, sizeBytes: size };
};

/** The entries of a tar, each to be read before the next one. @throws ApiError invalid_body; what the source throws */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  const tar = extract();
  let failure: unknown;
  const feed = async () => {
    for await (const chunk of untilEnd(source)) {
      if (tar.destroyed) return;
      if (!tar.write(chunk)) await drained(tar);
    }
    tar.end(undefined);
  };
  const fed = feed().catch((error: unknown) => {
    failure = error;
    tar.destroy(error as Error);
  });
  try {
    for await (const entry of tar) {
      yield { ...readHeader(entry), content: contentOf(entry) };
      entry.resume();
    }
    await fed;
  } catch (error) {
    throw failure ?? invalidArchive((error as Error).message);
  } finally {
    tar.destroy();
  }
}
