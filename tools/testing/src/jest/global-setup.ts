import { join } from 'node:path';
import { prepareLazyServers } from './lazy-servers.ts';
import { startSharedServer } from './shared-server.ts';

/** Jest calls it once, before it starts its workers. */
export default async function globalSetup(config: { rootDir: string }): Promise<void> {
  // For the processes that tests start.
  process.env.NODE_COMPILE_CACHE ??= join(config.rootDir, '.backlot', 'compile-cache');
  await startSharedServer(config.rootDir);
  await prepareLazyServers(config.rootDir);
}
