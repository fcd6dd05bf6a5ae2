import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataStore, Upload } from '@tus/server';
import type { StoreUnderTest } from './blob-store.conformance.ts';
import { BlobNotFound, type Notes } from './blob-store.ts';

const MIB = 1024 * 1024;
const newKey = () => `1001/${randomUUID()}`;

/** As they come back from a row: any JSON. */
const notesInMemory = (): Notes => {
  const notes = new Map<string, string>();
  return {
    async get<T>(key: string) {
      const note = notes.get(key);
      return note === undefined ? undefined : (JSON.parse(note) as T);
    },
    async set(key, note) {
      notes.set(key, JSON.stringify(note));
    },
    async delete(key) {
      notes.delete(key);
    },
  };
};

/** What resumable uploads may rely on, wherever their bytes lie. */
export const resumableConformance = (name: string, start: () => Promise<StoreUnderTest>): void => {
  describe(`blobs that come in several calls: ${name}`, () => {
    let bed: StoreUnderTest;
    const notes = notesInMemory();
    /** Anew each time, as in another process. */
    const datastore = (): DataStore => bed.store.resumable(notes);
    beforeAll(async () => {
      bed = await start();
    });
    afterAll(() => bed?.close());

    const begin = async (size: number) => {
      const id = newKey();
      await datastore().create(new Upload({ id, size, offset: 0 }));
      return id;
    };
    const readBlob = async (key: string) =>
      Buffer.concat(await (await bed.store.open(key)).toArray());
    const leftovers = async (key: string) =>
      (await bed.leftovers()).filter((name) => name.includes(key.replace(/.*\//, '')));

    it.each([
      ['one byte', [1]],
      ['one call of several parts', [12 * MIB + 7]],
      ['calls that end within a part', [3, 4 * MIB, 7 * MIB + 1, 0, 100, 6 * MIB]],
      ['calls that end with a part', [5 * MIB, 5 * MIB]],
    ])('have all their bytes after %s', async (_calls, lengths) => {
      const content = randomBytes(lengths.reduce((sum, length) => sum + length, 0));
      const key = await begin(content.length);
      let offset = 0;
      for (const length of lengths) {
        const part = content.subarray(offset, offset + length);
        // In chunks as sockets give them; an empty call gives none.
        const source = Readable.from(
          (function* () {
            for (let at = 0; at < part.length; at += 64 * 1024)
              yield part.subarray(at, at + 64 * 1024);
          })(),
        );
        expect((await datastore().getUpload(key)).offset).toBe(offset);
        offset += length;
        expect(await datastore().write(source, key, offset - length)).toBe(offset);
      }
      expect((await datastore().getUpload(key)).offset).toBe(content.length);
      expect(await bed.store.sizeBytes(key)).toBe(content.length);
      expect((await readBlob(key)).equals(content)).toBe(true);
      expect(await leftovers(key)).toHaveLength(1);
      await bed.store.remove(key);
    });

    it('never count what broke off as there when it is not', async () => {
      const content = randomBytes(13 * MIB);
      const key = await begin(content.length);
      async function* source() {
        yield content.subarray(0, 7 * MIB);
        throw new Error('the caller has gone');
      }
      await expect(datastore().write(Readable.from(source()), key, 0)).rejects.toThrow();
      const { offset } = await datastore().getUpload(key);
      expect(offset).toBeLessThanOrEqual(7 * MIB);
      const rest = Readable.from([content.subarray(offset)]);
      expect(await datastore().write(rest, key, offset)).toBe(content.length);
      expect((await readBlob(key)).equals(content)).toBe(true);
      await bed.store.remove(key);
    });

    it('leave nothing after remove, however far they came', async () => {
      const [untouched, begun, ended] = await Promise.all([begin(9), begin(20 * MIB), begin(3)]);
      await datastore().write(Readable.from([randomBytes(6 * MIB)]), begun, 0);
      await datastore().write(Readable.from([Buffer.from('abc')]), ended, 0);
      for (const key of [untouched, begun, ended]) {
        await bed.store.remove(key);
        expect(await leftovers(key)).toEqual([]);
      }
      await expect(datastore().getUpload(untouched)).rejects.toThrow(BlobNotFound);
    });

    it('are missing where nobody began', async () => {
      await expect(datastore().getUpload(newKey())).rejects.toThrow(BlobNotFound);
    });

    it.each(['../up', '/etc/passwd', 'a\0b', 'A'])('refuse the key "%s"', async (id) => {
      await expect(datastore().create(new Upload({ id, size: 1, offset: 0 }))).rejects.toThrow(
        RangeError,
      );
    });
  });
};
