import { keepCompiledCode } from './process/compile-cache.ts';
import { limitMallocArenas } from './process/malloc-arenas.ts';

limitMallocArenas();
keepCompiledCode();
await import('./process/run-dev.ts');
