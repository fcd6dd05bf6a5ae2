import { auth } from '@backlot/auth';
import { createInProcessBus } from '@backlot/bus';
import { createMemoryCounters } from '@backlot/counters';
import { createDatabase } from '@backlot/database';
import { projects } from '@backlot/projects';
import { createLogger } from '@backlot/telemetry';
import type { DatabaseUrls } from '../database/prepare-database.ts';
import { type Seeded, seed } from '../database/seed.ts';
import type { Secrets } from '../secrets.ts';

/** Makes the demo project and its owner, with services that are never started. */
export const seedDatabase = async (
  databaseUrls: DatabaseUrls,
  settings: Readonly<Record<string, string | undefined>>,
  secrets: Secrets,
): Promise<Seeded> => {
  const shared = {
    env: {
      ...settings,
      BACKLOT_AUTH_MASTER_KEY: secrets.masterKey,
      BACKLOT_SECRETS_KEYS: settings.BACKLOT_SECRETS_KEYS ?? secrets.secretsKey,
    },
    bus: createInProcessBus({ onDead: () => {} }),
    identityKeys: [],
    now: Date.now,
    log: createLogger({ service: 'stack', level: 'error' }),
    checkResponses: false,
    directories: {},
  };
  const authDatabase = createDatabase({ url: databaseUrls.auth, schema: 'auth' });
  const projectsDatabase = createDatabase({ url: databaseUrls.projects, schema: 'projects' });
  try {
    const counters = createMemoryCounters(Date.now);
    return await seed(
      {
        auth: (await auth.open({ ...shared, database: authDatabase })).service,
        projects: (await projects.open({ ...shared, database: projectsDatabase }, { counters }))
          .service,
      },
      secrets.ownerPassword,
    );
  } finally {
    await Promise.all([authDatabase.close(), projectsDatabase.close()]);
  }
};
