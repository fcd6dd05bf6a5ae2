import { open } from 'node:fs/promises';
import { BlobNotFound, BlobStoreUnavailable } from './blob-store.ts';

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

const isOfDisk = (error: Error) =>
  ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'].includes(codeOf(error) ?? '');

export const translate = (error: unknown): unknown => {
  if (codeOf(error) === 'ENOENT') return new BlobNotFound('no such blob', { cause: error });
  // fs's errors carry a system call's name; all others are the source's own, but for a write's, which
  // names no path.
  const isOurs =
    error instanceof Error && 'syscall' in error && ('path' in error || isOfDisk(error));
  return isOurs ? new BlobStoreUnavailable('the file system refuses', { cause: error }) : error;
};

export const translated = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw translate(error);
  });

/** Of a folder too: a name is durable once its folder is. */
export const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
