/**
 * Starts this process again, as itself, with one heap for the C library's `malloc`: glibc reads the number when a
 * process starts. With one for each thread, the 19 MiB of a password's hash stay with every thread that ever made one.
 */
export const limitMallocArenas = (): void => {
  if (process.platform !== 'linux' || process.env.MALLOC_ARENA_MAX) return;
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '1' });
};
