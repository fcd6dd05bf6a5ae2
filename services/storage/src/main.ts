// Threads that write files, or wait until the disk has them: 32 puts of 1 MiB at once took 0.68 of the time that they
// take with Node's own 4 (60 rounds in turn, load 30). It is read when the first one is needed.
process.env.UV_THREADPOOL_SIZE ??= '16';

const { runService } = await import('@backlot/service');
const { storage } = await import('./index.ts');
await runService(storage);
