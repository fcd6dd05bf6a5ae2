import type pg from 'pg';
import { quote, readTables, tableName } from './catalog.ts';

/** Rows that migrations make. */
const madeByMigrations: Readonly<Record<string, string>> = {
  '"projects"."projects"': `id = 'platform'`,
  '"projects"."accounts"': 'number < 100',
};

export const applicationName = 'backlot-ops';

const selectSessions = `
  SELECT DISTINCT application_name AS name FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'backlot-%' ORDER BY 1`;

/** @throws Error naming who is connected, or which table has rows */
export const requireEmpty = async (
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<void> => {
  const { rows: sessions } = await client.query<{ name: string }>(selectSessions);
  if (sessions.length > 0)
    throw new Error(
      `Processes are connected to the database: ${sessions.map(({ name }) => name).join(', ')}. Stop them first.`,
    );
  for (const table of await readTables(client, schemas)) {
    const name = tableName(table);
    const made = madeByMigrations[name];
    const { rowCount } = await client.query(
      `SELECT FROM ${name} ${made ? `WHERE NOT (${made})` : ''} LIMIT 1`,
    );
    if (rowCount)
      throw new Error(
        `${table.schema}.${table.table} has rows: a back-up is restored into an empty installation only.`,
      );
  }
};

/** What a migration, or a restore that broke off, has left. Only behind `requireEmpty`. */
export const dropSchemas = async (
  client: pg.ClientBase,
  schemas: readonly string[],
): Promise<void> => {
  for (const schema of schemas)
    await client.query(`DROP SCHEMA IF EXISTS ${quote(schema)} CASCADE`);
};
