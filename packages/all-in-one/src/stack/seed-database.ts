import { createAuthService, readAuthConfig } from '@backlot/auth';
import { createInProcessBus } from '@backlot/bus';
import { createMemoryCounters } from '@backlot/counters';
import { createDatabase } from '@backlot/database';
import { identitySecret } from '@backlot/identity';
import { createProjectsService, parseConfig } from '@backlot/projects';
import { createLogger } from '@backlot/telemetry';
import type { Secrets } from '../secrets.ts';
import { type Seeded, seed } from '../seed.ts';

/** Makes the demo project and its owner, with services that are never started. */
export const seedDatabase = async (
  url: string,
  settings: Readonly<Record<string, string | undefined>>,
  secrets: Secrets,
): Promise<Seeded> => {
  const shared = {
    bus: createInProcessBus({ onDead: () => {} }),
    identitySecret: identitySecret(secrets.identitySecret),
    now: Date.now,
    log: createLogger({ service: 'stack', level: 'error' }),
    checkResponses: false,
    counters: createMemoryCounters(Date.now),
  };
  const ofAuth = createDatabase({ url, schema: 'auth' });
  const ofProjects = createDatabase({ url, schema: 'projects' });
  try {
    const config = readAuthConfig({ ...settings, BACKLOT_AUTH_MASTER_KEY: secrets.masterKey });
    const auth = createAuthService({ ...shared, database: ofAuth, config });
    const projects = createProjectsService({
      ...shared,
      database: ofProjects,
      config: parseConfig(settings),
    });
    return await seed({ auth, projects }, secrets.ownerPassword);
  } finally {
    await Promise.all([ofAuth.close(), ofProjects.close()]);
  }
};
