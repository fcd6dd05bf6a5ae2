import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BlobNotFound, type BlobStore } from './blob-store.ts';

export interface StoreUnderTest {
  store: BlobStore;
  /** Keys of everything that is kept, half-written blobs included. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
async function* inChunks(bytes: Buffer, chunkBytes = 64 * 1024) {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
const readAll = async (stream: AsyncIterable<Buffer>) => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const newKey = () => `1001/${randomUUID()}`;

/** What files may rely on, wherever their bytes lie. */
export const blobStoreConformance = (name: string, start: () => Promise<StoreUnderTest>): void => {
  describe(`blob store: ${name}`, () => {
    let bed: StoreUnderTest;
    beforeAll(async () => {
      bed = await start();
    });
    afterAll(() => bed?.close());

    it.each([1, 4096, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 17 * MIB + 3])(
      'gives %i bytes back as they came',
      async (length) => {
        const bytes = randomBytes(length);
        const key = newKey();
        await bed.store.put(key, inChunks(bytes));
        expect(await bed.store.sizeBytes(key)).toBe(length);
        const back = await readAll(await bed.store.open(key));
        const hashes = [bytes, back].map((content) =>
          createHash('sha256').update(content).digest('hex'),
        );
        expect(hashes[1]).toBe(hashes[0]);
        await bed.store.remove(key);
      },
    );

    it('has taken a chunk when it asks for the next one', async () => {
      const key = newKey();
      const bytes = randomBytes(11 * MIB);
      async function* source() {
        for await (const chunk of inChunks(Buffer.from(bytes))) {
          yield chunk;
          chunk.fill(0);
        }
      }
      await bed.store.put(key, source());
      expect((await readAll(await bed.store.open(key))).equals(bytes)).toBe(true);
      await bed.store.remove(key);
    });

    it('takes chunks of any size', async () => {
      const key = newKey();
      const bytes = randomBytes(11 * MIB);
      await bed.store.put(key, inChunks(bytes, 7 * MIB + 1));
      expect((await readAll(await bed.store.open(key))).equals(bytes)).toBe(true);
      await bed.store.remove(key);
    });

    it('opens a range, its first, its last and a single byte included', async () => {
      const key = newKey();
      const bytes = randomBytes(6 * MIB);
      await bed.store.put(key, inChunks(bytes));
      const last = bytes.length - 1;
      for (const [start, end] of [
        [0, last],
        [0, 0],
        [last, last],
        [5 * MIB - 10, 5 * MIB + 10],
        [1000, 1999],
      ] as const) {
        const part = await readAll(await bed.store.open(key, { start, end }));
        expect(part.equals(bytes.subarray(start, end + 1))).toBe(true);
      }
      await bed.store.remove(key);
    });

    it('shows nothing of a blob before all of it is there', async () => {
      const key = newKey();
      async function* source() {
        yield randomBytes(6 * MIB);
        await expect(bed.store.open(key)).rejects.toThrow(BlobNotFound);
        await expect(bed.store.sizeBytes(key)).rejects.toThrow(BlobNotFound);
        yield randomBytes(10);
      }
      await bed.store.put(key, source());
      expect(await bed.store.sizeBytes(key)).toBe(6 * MIB + 10);
      await bed.store.remove(key);
    });

    it('leaves nothing that can be seen when the source breaks off, and nothing at all after remove', async () => {
      const key = newKey();
      async function* source() {
        yield randomBytes(11 * MIB);
        throw new Error('the caller has gone');
      }
      await expect(bed.store.put(key, source())).rejects.toThrow('the caller has gone');
      await expect(bed.store.open(key)).rejects.toThrow(BlobNotFound);
      await bed.store.remove(key);
      expect((await bed.leftovers()).filter((name) => name.includes(key))).toEqual([]);
    });

    it('removes a blob, and what is not there as well', async () => {
      const key = newKey();
      await bed.store.put(key, inChunks(Buffer.from('text')));
      await bed.store.remove(key);
      await bed.store.remove(key);
      await expect(bed.store.open(key)).rejects.toThrow(BlobNotFound);
      await expect(bed.store.sizeBytes(key)).rejects.toThrow(BlobNotFound);
      expect((await bed.leftovers()).filter((name) => name.includes(key))).toEqual([]);
    });

    it('takes many at once', async () => {
      const blobs = Array.from({ length: 12 }, () => ({ key: newKey(), bytes: randomBytes(MIB) }));
      await Promise.all(blobs.map(({ key, bytes }) => bed.store.put(key, inChunks(bytes))));
      for (const { key, bytes } of blobs) {
        expect((await readAll(await bed.store.open(key))).equals(bytes)).toBe(true);
        await bed.store.remove(key);
      }
    });

    it('lets a reader that goes away go', async () => {
      const key = newKey();
      await bed.store.put(key, inChunks(randomBytes(6 * MIB)));
      // More than there are connections, files or buffers to leak.
      for (let n = 0; n < 200; n++) {
        const stream = await bed.store.open(key);
        await once(stream, 'readable');
        stream.destroy();
      }
      await bed.store.remove(key);
    });

    it.each(['', '/etc/passwd', '../up', 'a/../b', 'a//b', 'A', 'a\0b'])(
      'refuses the key "%s"',
      async (key) => {
        await expect(bed.store.put(key, inChunks(Buffer.from('x')))).rejects.toThrow(RangeError);
      },
    );
  });
};
