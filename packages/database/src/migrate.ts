import { runner } from 'node-pg-migrate';
import { translate } from './errors.ts';

export interface MigrateOptions {
  url: string;
  /** Created when it is missing; each service has its own. */
  schema: string;
  /** Folder of numbered SQL files. */
  directory: string;
}

/** A server that takes longer is as good as away; what it then runs may take as long as it needs. */
const connectTimeoutMs = 3000;

/**
 * Applies what has not been applied yet, all of it in one transaction. Processes that start at once
 * wait for each other. @throws DatabaseUnavailable
 */
export const migrate = async ({ url, schema, directory }: MigrateOptions): Promise<void> => {
  const migration = runner({
    databaseUrl: { connectionString: url, connectionTimeoutMillis: connectTimeoutMs },
    dir: directory,
    direction: 'up',
    schema,
    createSchema: true,
    migrationsTable: 'migrations',
    advisoryLockMode: 'wait',
    log: () => {},
  });
  await migration.catch((error: unknown) => {
    throw translate(error);
  });
};
