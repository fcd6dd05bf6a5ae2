import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { FileStore } from '@tus/file-store';
import { ERRORS, type Upload } from '@tus/server';
import { BlobNotFound, BlobStoreUnavailable, checkKey, type Notes } from './blob-store.ts';
import { sync, translate } from './disk.ts';

/** tus throws objects with a status. */
const isTusError = (error: unknown): error is { status_code: number } =>
  typeof error === 'object' && error !== null && 'status_code' in error;

/** Files that grow in their place; an offset that is told is on the disk. */
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
    // Or whoever pipes the source would hear what became of it here first, as it is.
    const own = Readable.from(source, { objectMode: false });
    const reached = await super.write(own, id, offset).catch((error: unknown) => {
      if (error !== ERRORS.FILE_WRITE_ERROR) throw error;
      throw new BlobStoreUnavailable('the file system refuses', { cause: own.errored });
    });
    await sync(join(this.directory, id));
    return reached;
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
