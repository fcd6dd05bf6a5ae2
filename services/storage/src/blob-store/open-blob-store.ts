import type { BlobStoreConfig } from '../config.ts';
import type { BlobStore } from './blob-store.ts';
import { createFilesystemBlobStore } from './filesystem.ts';
import { createS3BlobStore } from './s3.ts';

/** The store that the settings ask for. */
export const openBlobStore = (config: BlobStoreConfig): BlobStore =>
  config.kind === 's3' ? createS3BlobStore(config) : createFilesystemBlobStore(config.directory);
