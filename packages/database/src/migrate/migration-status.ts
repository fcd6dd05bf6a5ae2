import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { withClient } from './one-client.ts';

export interface Migrations {
  /** PostgreSQL connection string. */
  url: string;
  /** Each service has its own. */
  schema: string;
  /** Folder of numbered SQL files. */
  directory: string;
}

export interface AppliedMigration {
  name: string;
  /** In ISO 8601. */
  appliedAt: string;
  /** Null: from before releases were kept. */
  release: string | null;
}

export interface MigrationStatus {
  schema: string;
  applied: AppliedMigration[];
  pending: string[];
  /** Applied by a release that is not this one. */
  unknown: string[];
}

/** PostgreSQL's codes for a table, a schema or a right that is not there yet. */
const notYet = new Set(['42P01', '3F000', '42501']);

const readTimeoutMs = 3000;

interface Row {
  row: { name: string; run_on: string; release?: string | null };
}

const readApplied = ({ url, schema }: Migrations): Promise<AppliedMigration[]> =>
  withClient({ connectionString: url, query_timeout: readTimeoutMs }, async (client) => {
    const table = `${pg.escapeIdentifier(schema)}.migrations`;
    const { rows } = await client.query<Row>(
      `SELECT to_jsonb(migrations) AS row FROM ${table} migrations ORDER BY id`,
    );
    return rows.map(({ row }) => ({
      name: row.name,
      appliedAt: new Date(`${row.run_on}Z`).toISOString(),
      release: row.release ?? null,
    }));
  }).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && notYet.has(error.code ?? '')) return [];
    throw error;
  });

/** What has been applied, and what not, for a role that may only read. @throws DatabaseUnavailable */
export const migrationStatus = async (migrations: Migrations): Promise<MigrationStatus> => {
  const files = await readdir(migrations.directory);
  const needed = files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4));
  const applied = await readApplied(migrations);
  const names = new Set(applied.map(({ name }) => name));
  return {
    schema: migrations.schema,
    applied,
    pending: needed.filter((name) => !names.has(name)).sort(),
    unknown: [...names].filter((name) => !needed.includes(name)).sort(),
  };
};

/** Names of the files that have not been applied yet. @throws DatabaseUnavailable */
export const pendingMigrations = async (migrations: Migrations): Promise<string[]> =>
  (await migrationStatus(migrations)).pending;
