import type { BlobStore } from './blob-store/blob-store.ts';
import { createFilesystemBlobStore } from './blob-store/filesystem.ts';
import { createS3BlobStore } from './blob-store/s3.ts';
import type { BlobStoreConfig } from './config.ts';

export { parseBlobStoreConfig, parseConfig, type StorageConfig } from './config.ts';
export { createStorageService, type StorageDeps, type StorageService } from './service.ts';

/** The store that the settings ask for. */
export const openBlobStore = (config: BlobStoreConfig): BlobStore =>
  config.kind === 's3' ? createS3BlobStore(config) : createFilesystemBlobStore(config.directory);
