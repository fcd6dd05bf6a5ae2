import { keepCompiledCode } from './process/compile-cache.ts';

keepCompiledCode();
await import('./process/run-stack.ts');
