import { randomBytes } from 'node:crypto';
import type { ServiceName } from '@backlot/contract';
import { addressFor, mayCreateRoles, migrate, requireOwnSessions, roleIn } from '@backlot/database';
import { migrations } from '../service-list.ts';
import { release } from './migrate-all.ts';

/** Where each service reaches PostgreSQL, with a role of its own. */
export type DatabaseUrls = Record<ServiceName, string>;

/**
 * Migrates every schema and gives each service a role `<database>_<service>`, with a password that is
 * new each time: nobody else may be at work on the database.
 * @param url of a role that may create roles; another one serves all services, which `warn` is told
 */
export const prepareDatabase = async (
  url: string,
  warn: (text: string) => void,
): Promise<DatabaseUrls> => {
  await requireOwnSessions(url);
  const hasRoles = await mayCreateRoles(url);
  if (!hasRoles)
    warn(
      'The role of DATABASE_URL may not create roles: all services share it. Let it (CREATEROLE).',
    );
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  const urls: Partial<DatabaseUrls> = {};
  for (const migration of migrations) {
    const name = `${database}_${migration.schema}`;
    const password = randomBytes(24).toString('base64url');
    const own = hasRoles ? addressFor({ name, password }, url) : undefined;
    const role = own === undefined ? undefined : roleIn(own);
    await migrate({ url, ...migration, role, release, warn });
    urls[migration.schema] = own ?? url;
  }
  return urls as DatabaseUrls;
};
