import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/** Lets Node keep what it compiles in the data folder, for this process and those that it starts. */
export const keepCompiledCode = (): void => {
  process.env.NODE_COMPILE_CACHE ??= join(
    process.env.BACKLOT_DATA_DIR || '.backlot',
    'compile-cache',
  );
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
};
