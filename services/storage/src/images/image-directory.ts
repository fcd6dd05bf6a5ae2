import type { ImageAnswer, ImageAsking, ImageDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { toRequester } from '@backlot/fair-shares';
import { toApiError } from '@backlot/http';
import { toIdentity } from '@backlot/service';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { fileNotFound } from '../files/file.ts';
import type { Files } from '../files/files.ts';
import type { RecordFiles } from '../files/readers/record-files.ts';
import type { Images } from './images.ts';

export interface ImageDirectoryDeps {
  database: Database;
  files: Files;
  images: Images;
  store: BlobStore;
  recordFiles: Pick<RecordFiles, 'mayRead'>;
}

/** What a language model is shown; `ImageDirectory` promises the size. */
const shown = { width: 1024, height: 1024, fit: 'inside', format: 'jpeg' } as const;

/** Reads images for other services, under the rights of the caller for whom they ask. */
export const createImageDirectory = (deps: ImageDirectoryDeps): ImageDirectory => {
  const { database, files, images, store, recordFiles } = deps;

  const read = async ({ fileId, ...reader }: ImageAsking): Promise<Buffer> => {
    const identity = toIdentity(reader);
    const { number } = identity.project;
    const file = await files.find(number, fileId);
    if (!file || !(await recordFiles.mayRead(identity, file))) throw fileNotFound();
    const { blob, sizeBytes } = await images.get(number, file, shown, {
      requester: toRequester(identity),
    });
    if (typeof blob !== 'string') return blob;
    const bytes = await store.open(blob, { start: 0, end: sizeBytes - 1 });
    return Buffer.concat(await bytes.toArray());
  };

  return {
    readImage: (asking): Promise<ImageAnswer> =>
      database.inProject(asking.project.number, async () => {
        try {
          return { data: (await read(asking)).toString('base64') };
        } catch (error) {
          const { code, message, status } = toApiError(error);
          if (status >= 500 && code !== 'overloaded') throw error;
          return { refused: { code, message } };
        }
      }),
  };
};
