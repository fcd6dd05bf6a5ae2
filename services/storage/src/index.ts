export { parseConfig, type StorageConfig } from './config.ts';
export { openBlobStore, parseBlobStoreConfig } from './open-store.ts';
export { createStorageService, type StorageDeps, type StorageService } from './service.ts';
