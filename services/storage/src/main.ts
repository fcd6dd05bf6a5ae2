import { runService } from '@backlot/process';
import { createStorageService, openBlobStore, parseBlobStoreConfig, parseConfig } from './index.ts';

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
