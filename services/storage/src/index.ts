import { runnable } from '@backlot/service';
import { BlobNotFound, type BlobStore } from './blob-store/blob-store.ts';
import type { BlobStoreConfig } from './blob-store/blob-store-config.ts';
import { storageService } from './service.ts';

export { readBlobStoreConfig } from './blob-store/blob-store-config.ts';
export { BlobNotFound, type BlobStore };

/** Loads no other: the client of S3 takes memory. */
export const createBlobStore = async (blobs: BlobStoreConfig): Promise<BlobStore> => {
  if (blobs.kind === 's3') {
    const { createS3BlobStore } = await import('./blob-store/s3.ts');
    return createS3BlobStore(blobs);
  }
  const { createFilesystemBlobStore } = await import('./blob-store/filesystem.ts');
  return createFilesystemBlobStore(blobs.directory);
};

/** The service with the store that its settings ask for. */
export const storage = runnable(storageService, async ({ config }) => {
  const store = await createBlobStore(config.blobs);
  return { store, close: () => store.close() };
});
