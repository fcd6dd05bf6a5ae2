import { mkdir, open, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { FileStore } from '@tus/file-store';
import { ERRORS, type Upload } from '@tus/server';
import {
  BlobNotFound,
  type BlobStore,
  BlobStoreUnavailable,
  checkKey,
  type Notes,
} from './blob-store.ts';

const readChunkBytes = 256 * 1024;
/** Folders that are remembered; past it their names are synced anew. */
const maxDurableFolders = 10_000;
const diskFailures = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'];

const errorCode = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

const translate = (error: unknown): unknown => {
  const code = errorCode(error);
  if (code === 'ENOENT') return new BlobNotFound('no such blob', { cause: error });
  // Errors of fs name a system call (those of a write no path); all others come from the source.
  const isOfDisk =
    error instanceof Error &&
    'syscall' in error &&
    ('path' in error || diskFailures.includes(code ?? ''));
  return isOfDisk ? new BlobStoreUnavailable('the file system refuses', { cause: error }) : error;
};

export const translateDiskErrors = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw translate(error);
  });

/** `rm` would look at it on the main thread first: 18 % of its work where many uploads ended together. */
const removeFile = (path: string): Promise<void> =>
  unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });

/** For folders too: a new name is durable once its folder is synced. */
const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** tus throws objects with a status. */
const isTusError = (error: unknown): error is { status_code: number } =>
  typeof error === 'object' && error !== null && 'status_code' in error;

/** Files that grow in place; bytes up to an answered offset are on the disk. */
export class ResumableFiles extends FileStore {
  constructor(directory: string, notes: Notes) {
    super({ directory, configstore: notes });
  }

  override async create(upload: Upload): Promise<Upload> {
    const path = join(this.directory, checkKey(upload.id));
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, '', { flag: 'wx', mode: 0o600 });
      for (const folder of [dirname(path), this.directory]) await sync(folder);
    } catch (error) {
      throw translate(error);
    }
    await this.configstore.set(upload.id, upload);
    return upload;
  }

  override async write(source: Readable, id: string, offset: number): Promise<number> {
    // A stream of its own: a failed write would destroy the caller's with an error not yet translated.
    const ownSource = Readable.from(source, { objectMode: false });
    const newOffset = await super.write(ownSource, id, offset).catch((error: unknown) => {
      if (error !== ERRORS.FILE_WRITE_ERROR) throw error;
      throw new BlobStoreUnavailable('the file system refuses', { cause: ownSource.errored });
    });
    await sync(join(this.directory, id));
    return newOffset;
  }

  override async getUpload(id: string): Promise<Upload> {
    try {
      await sync(join(this.directory, id));
      return await super.getUpload(id);
    } catch (error) {
      throw isTusError(error) ? new BlobNotFound('no such upload') : translate(error);
    }
  }
}

/**
 * Blobs as files below a folder. One is written under `partial/`, moved to its place and synced there: synced before
 * the move it would take one more commit of the file system's journal. A power cut may leave half a blob where blobs
 * are read, but only of a put that has not resolved. A folder's own name is synced once in a process.
 */
export const createFilesystemBlobStore = (directory: string): BlobStore => {
  const root = resolve(directory);
  const pathTo = (area: 'blobs' | 'partial', key: string) => join(root, area, checkKey(key));
  /** Folders whose own names this process has synced. */
  const durableFolders = new Set<string>();

  const syncAncestors = async (folder: string) => {
    if (durableFolders.has(folder)) return;
    for (let path = folder; path !== root; path = dirname(path)) await sync(dirname(path));
    if (durableFolders.size === maxDurableFolders) durableFolders.clear();
    durableFolders.add(folder);
  };

  /** A blob's folders are mostly there. */
  const inFolder = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      await mkdir(dirname(path), { recursive: true });
      durableFolders.delete(dirname(path));
      return work();
    }
  };

  const put = async (key: string, source: AsyncIterable<Buffer>) => {
    const [partial, final] = [pathTo('partial', key), pathTo('blobs', key)];
    const folder = dirname(final);
    const handle = await inFolder(partial, () => open(partial, 'wx', 0o600));
    try {
      await handle.writeFile(source);
      await inFolder(final, () => rename(partial, final));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await sync(folder);
    await syncAncestors(folder);
  };

  return {
    put: (key, source) => translateDiskErrors(put(key, source)),
    async open(key, range) {
      const handle = await translateDiskErrors(open(pathTo('blobs', key), 'r'));
      return handle.createReadStream({ ...range, highWaterMark: readChunkBytes });
    },
    sizeBytes: async (key) => (await translateDiskErrors(stat(pathTo('blobs', key)))).size,
    async remove(key) {
      for (const area of ['partial', 'blobs'] as const)
        await translateDiskErrors(removeFile(pathTo(area, key)));
    },
    resumable: (notes) => new ResumableFiles(join(root, 'blobs'), notes),
    async close() {},
    folder: join(root, 'blobs'),
  };
};
