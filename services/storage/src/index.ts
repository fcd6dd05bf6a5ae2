import { runnable } from '@backlot/service';
import type { BlobStore } from './blob-store/blob-store.ts';
import type { StorageConfig } from './config.ts';
import { storageService } from './service.ts';

/** Loads no other: the client of S3 takes memory. */
const createBlobStore = async ({ blobs }: StorageConfig): Promise<BlobStore> => {
  if (blobs.kind === 's3') {
    const { createS3BlobStore } = await import('./blob-store/s3.ts');
    return createS3BlobStore(blobs);
  }
  const { createFilesystemBlobStore } = await import('./blob-store/filesystem.ts');
  return createFilesystemBlobStore(blobs.directory);
};

/** The service with the store that its settings ask for. */
export const storage = runnable(storageService, async ({ config }) => {
  const store = await createBlobStore(config);
  return { store, close: () => store.close() };
});
