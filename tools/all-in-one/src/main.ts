import { keepCompiledCode } from './process/compile-cache.ts';
import { limitMallocArenas } from './process/malloc-arenas.ts';

// As in the storage service's own process (services/storage/src/main.ts).
process.env.UV_THREADPOOL_SIZE ??= '16';
limitMallocArenas();
keepCompiledCode();
await import('./process/run-dev.ts');
