import { readdir } from 'node:fs/promises';
import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate';
import pg from 'pg';
import { scopedToAll } from '../project-scope.ts';
import { changesOneByOne, distribute } from './distribution.ts';
import { withClient } from './one-client.ts';
import { grantToService, protectMigrations, type ServiceRole } from './service-role.ts';
import { type LockWaitOptions, withShortLockWaits } from './short-lock-waits.ts';

export interface Migrations {
  /** PostgreSQL connection string. */
  url: string;
  /** Each service has its own. */
  schema: string;
  /** Folder of numbered SQL files. */
  directory: string;
}

/** The role of the address owns what it makes. */
export interface MigrateOptions extends Migrations, LockWaitOptions {
  /** Made where it is missing; it gets the rows of the schema. Without it nobody else gets in. */
  role?: ServiceRole | undefined;
  /** Tables that a Citus cluster spreads over its nodes by `project_id`, all of a project to one. */
  distributed?: readonly string[] | undefined;
}

/**
 * Applies what has not been applied yet, all of it in one transaction, which is repeated while its tables are in
 * use. Processes that start at once wait for each other. The schema is made where it is missing, and on a Citus
 * cluster tables are spread.
 * @throws DatabaseUnavailable, Error where a table was in use all the time
 */
export const migrate = ({
  url,
  directory,
  role,
  distributed = [],
  ...options
}: MigrateOptions): Promise<void> => {
  const settings = { ...scopedToAll, ...changesOneByOne };
  return withClient({ connectionString: url, settings }, async (client) => {
    const { schema } = options;
    // The runner's own, so that roles and rights are changed by one at a time too.
    await client.query(`SELECT pg_advisory_lock(${PG_MIGRATE_LOCK_ID})`);
    // Before the tables, so that a service that has waited for them may use them at once.
    if (role) await grantToService(client, { ...options, role });
    const applyPending = () =>
      runner({
        dbClient: client,
        dir: directory,
        direction: 'up',
        schema,
        createSchema: true,
        migrationsTable: 'migrations',
        advisoryLockMode: 'wait',
        singleTransaction: true,
        log: () => {},
      });
    await withShortLockWaits(client, applyPending, options);
    if (role) await protectMigrations(client, { schema, role });
    if (distributed.length > 0) await distribute(client, { schema, tables: distributed });
  });
};

/** PostgreSQL's codes for a table, a schema or a right that is not there yet. */
const notYet = new Set(['42P01', '3F000', '42501']);

const readTimeoutMs = 3000;

/**
 * Names of the files that have not been applied yet, for a role that may only read.
 * @throws DatabaseUnavailable
 */
export const pendingMigrations = async ({
  url,
  schema,
  directory,
}: Migrations): Promise<string[]> => {
  const files = await readdir(directory);
  const needed = files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4));
  const table = `${pg.escapeIdentifier(schema)}.migrations`;
  const applied = await withClient(
    { connectionString: url, query_timeout: readTimeoutMs },
    async (client) => {
      const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${table}`);
      return new Set(rows.map(({ name }) => name));
    },
  ).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && notYet.has(error.code ?? '')) return new Set<string>();
    throw error;
  });
  return needed.filter((name) => !applied.has(name)).sort();
};
