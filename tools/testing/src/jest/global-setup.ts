import { prepareLazyServers } from './lazy-servers.ts';
import { startSharedServer } from './shared-server.ts';

/** Jest calls it once, before it starts its workers. */
export default async function globalSetup(config: { rootDir: string }): Promise<void> {
  await startSharedServer(config.rootDir);
  await prepareLazyServers(config.rootDir);
}
