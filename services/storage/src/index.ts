import { runnable } from '@backlot/service';
import { createFilesystemBlobStore } from './blob-store/filesystem.ts';
import { createS3BlobStore } from './blob-store/s3.ts';
import { storageService } from './service.ts';

/** The service with the store that its settings ask for. */
export const storage = runnable(storageService, ({ config }) => {
  const store =
    config.blobs.kind === 's3'
      ? createS3BlobStore(config.blobs)
      : createFilesystemBlobStore(config.blobs.directory);
  return { store, close: () => store.close() };
});
