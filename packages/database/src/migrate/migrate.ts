import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate';
import pg from 'pg';
import { scopedToAll } from '../project-scope.ts';
import { changesOneByOne, distribute } from './distribution.ts';
import type { Migrations } from './migration-status.ts';
import { withClient } from './one-client.ts';
import { grantToService, protectMigrations, type ServiceRole } from './service-role.ts';
import { type LockWaitOptions, withShortLockWaits } from './short-lock-waits.ts';

/** The role of the address owns what it makes. */
export interface MigrateOptions extends Migrations, LockWaitOptions {
  /** Made where it is missing; it gets the rows of the schema. Without it nobody else gets in. */
  role?: ServiceRole | undefined;
  /** Tables that a Citus cluster spreads over its nodes by `project_id`, all of a project to one. */
  distributed?: readonly string[] | undefined;
  /** Kept beside each migration that is applied: who applied it. */
  release?: string | undefined;
}

/**
 * Applies what has not been applied yet in one transaction, which is repeated while its tables are in use. Processes that
 * start at once wait for each other. @throws DatabaseUnavailable, Error where a table was in use all the time
 */
export const migrate = ({
  url,
  directory,
  role,
  distributed = [],
  release,
  ...options
}: MigrateOptions): Promise<void> => {
  const settings = { ...scopedToAll, ...changesOneByOne };
  return withClient({ connectionString: url, settings }, async (client) => {
    const { schema } = options;
    // The runner's own, so that roles and rights are changed by one at a time too.
    await client.query(`SELECT pg_advisory_lock(${PG_MIGRATE_LOCK_ID})`);
    // Before the tables, so that a service that has waited for them may use them at once.
    if (role) await grantToService(client, { ...options, role });
    const applyPending = async () => {
      if (release !== undefined) await noteRelease(client, schema, release);
      await runner({
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
    };
    await withShortLockWaits(url, client, applyPending, options);
    if (role) await protectMigrations(client, { schema, role });
    if (distributed.length > 0) await distribute(client, { schema, tables: distributed });
  });
};

/** The runner's table, as it makes it, with the release that whatever is applied next is applied by. */
const noteRelease = async (client: pg.ClientBase, schema: string, release: string) => {
  const name = pg.escapeIdentifier(schema);
  const table = `${name}.migrations`;
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${name}`);
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${table} (id serial PRIMARY KEY, name varchar(255) NOT NULL, run_on timestamp NOT NULL, release text)`,
  );
  const { rows } = await client.query<{ by: string | null }>(
    `SELECT pg_get_expr(adbin, adrelid) AS by FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = $1::regclass AND attname = 'release'`,
    [table],
  );
  const by = `${pg.escapeLiteral(release)}::text`;
  if (rows[0]?.by === by) return;
  if (!rows[0]) await client.query(`ALTER TABLE ${table} ADD COLUMN release text`);
  await client.query(`ALTER TABLE ${table} ALTER COLUMN release SET DEFAULT ${by}`);
};
