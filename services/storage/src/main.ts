import { runService } from '@backlot/process';
import { openBlobStore } from './blob-store/open-blob-store.ts';
import { parseBlobStoreConfig, parseConfig } from './config.ts';
import { createStorageService } from './service.ts';

await runService({
  name: 'storage',
  port: 8084,
  entry: import.meta.url,
  create(parts) {
    const store = openBlobStore(parseBlobStoreConfig(process.env));
    const service = createStorageService({ ...parts, store, config: parseConfig(process.env) });
    return { ...service, close: () => store.close() };
  },
});
