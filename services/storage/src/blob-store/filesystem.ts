import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BlobStore, checkKey } from './blob-store.ts';
import { sync, translated } from './disk.ts';
import { ResumableFiles } from './filesystem-resumable.ts';

const readChunkBytes = 256 * 1024;

/**
 * Blobs as files below a folder. One is written under `partial/` and moved to its place when all of
 * it is on the disk, so that a crash leaves no half a blob where blobs are read.
 */
export const createFilesystemBlobStore = (directory: string): BlobStore => {
  const at = (area: 'blobs' | 'partial', key: string) => join(directory, area, checkKey(key));

  const put = async (key: string, source: AsyncIterable<Buffer>) => {
    const [partial, final] = [at('partial', key), at('blobs', key)];
    await Promise.all([partial, final].map((each) => mkdir(dirname(each), { recursive: true })));
    // Synced before it is closed.
    await writeFile(partial, source, { flag: 'wx', mode: 0o600, flush: true });
    await rename(partial, final);
    // The folder may be new, and then its own name has to last too.
    for (const folder of [dirname(final), dirname(dirname(final))]) await sync(folder);
  };

  return {
    put: (key, source) => translated(put(key, source)),
    async open(key, range) {
      const handle = await translated(open(at('blobs', key), 'r'));
      return handle.createReadStream({ ...range, highWaterMark: readChunkBytes });
    },
    sizeBytes: async (key) => (await translated(stat(at('blobs', key)))).size,
    async remove(key) {
      for (const area of ['partial', 'blobs'] as const)
        await translated(rm(at(area, key), { force: true }));
    },
    resumable: (notes) => new ResumableFiles(join(directory, 'blobs'), notes),
    async close() {},
  };
};
