import { dropTemplates } from '../servers/test-database.ts';
import { stopLazyServers } from './lazy-servers.ts';
import { stopSharedServer } from './shared-server.ts';

/** Jest calls it once, when all tests have ended. */
export default async function globalTeardown(): Promise<void> {
  try {
    await dropTemplates();
    await stopLazyServers();
  } finally {
    await stopSharedServer();
  }
}
