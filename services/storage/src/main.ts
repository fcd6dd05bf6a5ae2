// Threads that write files, or wait until the disk has them (docs/decisions/0032). Read when the first one is needed.
process.env.UV_THREADPOOL_SIZE ??= '16';

const { runService } = await import('@backlot/service');
const { storage } = await import('./index.ts');
await runService(storage);
