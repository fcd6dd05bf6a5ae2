import { createRequire } from 'node:module';
import { ownSettingName, type ServiceName } from '@backlot/contract';
import {
  type LockWaitOptions,
  migrate,
  requireOwnSessions,
  roleIn,
  type ServiceRole,
} from '@backlot/database';
import { type Environment, readSettings } from '@backlot/service';
import { z } from 'zod';
import { migrations } from '../service-list.ts';

const addressSetting = z.url({ protocol: /^postgres(ql)?$/ });
const serviceSetting = (name: ServiceName) => ownSettingName(name, 'DATABASE_URL');

/** As it stands beside each migration that is applied. */
export const { version: release } = createRequire(import.meta.url)('../../package.json') as {
  version: string;
};

const schema = z.object({
  DATABASE_URL: addressSetting,
  ...Object.fromEntries(
    migrations.map(({ schema: name }) => [serviceSetting(name), addressSetting.optional()]),
  ),
});

/** Names of the settings that the migrate program reads. */
export const migrateSettings: readonly string[] = Object.keys(schema.shape);

/** Undefined where the service connects as the role that migrates, or nobody said as whom. */
const roleFor = (
  url: string | undefined,
  migrating: string,
  setting: string,
): ServiceRole | undefined => {
  if (url === undefined) return undefined;
  try {
    return new URL(url).username === new URL(migrating).username ? undefined : roleIn(url);
  } catch (cause) {
    throw new Error(`${setting}: ${(cause as Error).message}`, { cause });
  }
};

/**
 * Migrates every schema, and makes and grants the roles that the services' own addresses name.
 * @throws Error that names a wrong setting
 */
export const migrateAll = async (
  env: Environment,
  print: (text: string) => void,
  limits: Pick<LockWaitOptions, 'lockWaits' | 'statementMs'> = {},
) => {
  const settings = readSettings(schema, env) as Record<string, string> & { DATABASE_URL: string };
  const { DATABASE_URL: url } = settings;
  await requireOwnSessions(url);
  for (const migration of migrations) {
    const setting = serviceSetting(migration.schema);
    const role = roleFor(settings[setting], url, setting);
    await migrate({ url, ...migration, role, release, warn: print, ...limits });
    const note = role ? `, for ${role.name}` : ', without a role of its own';
    print(`${migration.schema}: up to date${note}`);
  }
};
