export { openBlobStore } from './blob-store/open-blob-store.ts';
export { parseBlobStoreConfig, parseConfig, type StorageConfig } from './config.ts';
export { createStorageService, type StorageDeps, type StorageService } from './service.ts';
