import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startOncePerRun } from './lazy-server.ts';
import { findWorkers, joinDatabases } from './test-cluster.ts';

export interface TestDatabase {
  url: string;
  /** Ends the sessions that are still open on it; its roles go with it. May be called more than once. */
  drop(): Promise<void>;
}

const readServerUrl = (): string => {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl === undefined) {
    throw new Error('TEST_DATABASE_URL is unset: run tests with pnpm test, whose set-up sets it.');
  }
  return serverUrl;
};

/**
 * A fresh database on the server that jest's global set-up has started: empty, or with all that is in the
 * database `template`, to which nobody may be connected. Where the server is the coordinator of a Citus
 * cluster, the database is one too.
 */
export async function createTestDatabase(template = 'template0'): Promise<TestDatabase> {
  const serverUrl = readServerUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  const workers = await findWorkers(serverUrl);
  const servers = [serverUrl, ...workers];
  await Promise.all(
    servers.map((server) =>
      runOnServer(
        server,
        `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8'
       LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C' STRATEGY file_copy`,
      ),
    ),
  );
  if (workers.length > 0) await joinDatabases(serverUrl, workers, name);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      for (const server of servers)
        await runOnServer(
          server,
          `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
          server === serverUrl ? name : undefined,
        );
      await runOnServer(serverUrl, dropRoles(name));
    },
  };
}

/**
 * A database with what `fill` puts into it. That is done once in a test run and copied; a Citus cluster
 * has no copies.
 * @param name of what is in it, in this run
 * @param fill ends its connections
 */
export async function createFilledDatabase(
  name: string,
  fill: (url: string) => Promise<unknown>,
): Promise<TestDatabase> {
  if ((await findWorkers(readServerUrl())).length > 0) {
    const database = await createTestDatabase();
    await fill(database.url);
    return database;
  }
  const template = await startOncePerRun(`database-${name}`, async () => {
    const { url } = await createTestDatabase();
    await fill(url);
    return new URL(url).pathname.slice(1);
  });
  return createTestDatabase(template);
}

/** Removes what this run's databases were copied from. */
export async function dropTemplates(): Promise<void> {
  const run = process.env.TEST_SERVERS_DIR ?? '';
  const names = (await readdir(run)).filter((name) => /^database-.*\.json$/.test(name));
  for (const name of names) {
    const { started } = JSON.parse(await readFile(join(run, name), 'utf8')) as { started?: string };
    if (started)
      await runOnServer(readServerUrl(), `DROP DATABASE IF EXISTS ${started} WITH (FORCE)`);
  }
}

/** The services' roles on a database begin with its name. */
const dropRoles = (database: string) => `DO $$ DECLARE role text; BEGIN
  FOR role IN SELECT rolname FROM pg_roles WHERE starts_with(rolname, '${database}_') LOOP
    EXECUTE format('DROP ROLE %I', role);
  END LOOP; END $$`;

/** Sessions that are about to end do so by themselves: one that is ended while it leaves fails its file. */
async function waitForSessions(client: pg.Client, database: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [
      database,
    ]);
    if (rows.length === 0) return;
    await sleep(25);
  }
}

async function runOnServer(serverUrl: string, sql: string, leaving?: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    if (leaving !== undefined) await waitForSessions(client, leaving);
    await client.query(sql);
  } finally {
    await client.end();
  }
}
