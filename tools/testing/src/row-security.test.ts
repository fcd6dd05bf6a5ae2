import { randomUUID } from 'node:crypto';
import { services } from '@backlot/contract';
import { createDatabase, type Database } from '@backlot/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './servers/test-database.ts';
import { migrateForService } from './service-database.ts';

/** Tables with a project and without row-level security: docs/decisions/0020-row-level-security.md. */
const without: Record<string, string> = {
  'projects.suspensions': 'of owners and of projects, spread over an owner’s projects at once',
  'projects.project_members':
    'asked by account across projects, and with every statement of the control plane',
  'projects.call_sums': 'added up over all projects at once, and read by the operator alone',
  'projects.spenders': 'written with the ledger, for several projects at once',
  'projects.transfers': 'the ledger is booked by owner, and its lines outlive the project',
  'records.records': 'the hottest path, and a policy takes indexes on jsonb away',
  'records.collections': 'read with every record',
  'records.count_delta': 'written with every record',
  'records.changes': 'written with every record, by the same connection',
  'records.change_floors': 'read with the log, by the same connection',
  'records.restore_points': 'written and read by the owner, by the same connection',
  'records.undo_jobs': 'worked on across projects by a job, by the same connection',
  'records.undo_records': 'worked on across projects by a job, by the same connection',
  'records.ended_collections': 'written beside a collection, by the same connection',
  'records.deletion_notices': 'written beside what they count, by the same connection',
  'records.paid_records': 'written with a record, by the same connection',
  'records.record_counts': 'written with a record, by the same connection',
  'records.record_limits':
    'read with every record, and by the job that builds them across projects',
  'records.reports': 'swept across projects, by the same connection',
  'records.user_erasures': 'worked on across projects by a job, by the same connection',
  'records.schema_reports': 'written by a job across projects',
  'records.searches': 'read with every record, and by the job that builds them across projects',
  'records.search_texts': 'written with a record, by the same connection',
  'records.shares': 'read with the records of every list',
  'records.observations': 'added up across projects by a job',
  'records.slots': 'read with every record, and by the job that fills them across projects',
  'records.unique_fields':
    'read with every record, and by the job that builds them across projects',
  'records.unique_values': 'written with a record, by the same connection',
  'records.told_projects': 'read across projects by a job, and written with what it tells',
  'records.totals': 'summed up by owner, across projects',
  'records.traffic': 'added up by a job for several projects, by the same connection',
  'records.visits': 'added up by a job for several projects, by the same connection',
  'records.project_owners': 'read by owner, across projects',
};
const [own, other] = [7, 8];
const names = Object.keys(services);

let server: TestDatabase;
let admin: pg.Client;
/** Of each service, for its own role. */
const urls = new Map<string, string>();

beforeAll(async () => {
  server = await createTestDatabase();
  for (const name of names) {
    const migrations = new URL(`../../../services/${name}/migrations/`, import.meta.url);
    urls.set(name, await migrateForService(server.url, { name, migrations }));
  }
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  // Rows may stand without those that they refer to.
  await admin.query('SET session_replication_role = replica');
});
afterAll(async () => {
  await admin.end();
  await server.drop();
});

interface Table {
  name: string;
  column: 'project_number' | 'project_id';
  is_forced: boolean;
  policies: string[];
}

/** Of a schema; the project's number has either name, and where both are there the id is its public one. */
const tablesWithProject = async (schema: string): Promise<Table[]> => {
  const { rows } = await admin.query<Table>(
    `SELECT c.relname AS name, max(a.attname) AS column,
            bool_and(c.relrowsecurity AND c.relforcerowsecurity) AS is_forced,
            ARRAY(SELECT format('%s %s', cmd, permissive) FROM pg_policies p
                   WHERE p.schemaname = $1 AND p.tablename = c.relname AND with_check = qual) AS policies
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND a.attname IN ('project_number', 'project_id')
      GROUP BY c.oid ORDER BY c.relname`,
    [schema],
  );
  return rows;
};

const protectedTables = async (schema: string) =>
  (await tablesWithProject(schema)).filter(({ name }) => !(`${schema}.${name}` in without));

/** Values that a CHECK asks for. */
const checked: Record<string, unknown> = {
  visibility: 'private',
  status: 'open',
  kind: 'bounce',
  purpose: 'verify',
  provider: 'stripe',
  mode: 'test',
};
const samples: Record<string, () => unknown> = {
  uuid: () => randomUUID(),
  text: () => randomUUID(),
  bytea: () => Buffer.from(randomUUID()),
  integer: () => 1,
  bigint: () => 1,
  boolean: () => true,
  json: () => '{}',
  jsonb: () => '{}',
  ARRAY: () => [],
  date: () => '2026-01-01',
  'timestamp with time zone': () => new Date(),
};

/** An INSERT of a row that has what it must have. */
const insertion = async (schema: string, { name, column }: Table, project: number) => {
  const { rows: columns } = await admin.query<{ column_name: string; data_type: string }>(
    `SELECT column_name, data_type FROM information_schema.columns
      WHERE table_schema = $1 AND table_name = $2 AND is_nullable = 'NO'
        AND (column_default IS NULL OR column_name = 'is_guest')
        AND is_identity = 'NO'`,
    [schema, name],
  );
  const values = columns.map((required) =>
    required.column_name === column
      ? project
      : (checked[required.column_name] ?? samples[required.data_type]?.()),
  );
  const list = columns.map((required) => required.column_name).join(', ');
  const places = columns.map((_, index) => `$${index + 1}`).join(', ');
  return { text: `INSERT INTO ${schema}.${name} (${list}) VALUES (${places})`, values };
};

it.each(names)(
  '%s: each table with a project has forced row-level security, or a reason',
  async (schema) => {
    for (const { name, is_forced, policies } of await tablesWithProject(schema)) {
      const isOut = `${schema}.${name}` in without;
      expect({ name, is_forced, policies }).toEqual({
        name,
        is_forced: !isOut,
        policies: isOut ? [] : ['ALL PERMISSIVE'],
      });
    }
  },
);

it('every exception is a table', async () => {
  const tables: string[] = [];
  for (const schema of names)
    for (const { name } of await tablesWithProject(schema)) tables.push(`${schema}.${name}`);
  expect(tables).toEqual(expect.arrayContaining(Object.keys(without)));
});

it.each(names)('%s: statements without a WHERE stay in their project', async (schema) => {
  const database: Database = createDatabase({ url: urls.get(schema) ?? '', schema });
  try {
    for (const table of await protectedTables(schema)) {
      const { name, column } = table;
      for (const project of [own, own, other]) {
        const { text, values } = await insertion(schema, table, project);
        // A table may have one row for each project.
        await admin.query(`${text} ON CONFLICT DO NOTHING`, values);
      }
      const { rows } = await admin.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${schema}.${name} WHERE ${column} = ${own}`,
      );
      const count = rows[0]?.count ?? 0;
      const selected = () =>
        database.query<{ project: number }>(`SELECT ${column}::int AS project FROM ${name}`);
      const change = `UPDATE ${name} SET ${column} = ${column}`;

      expect(await selected()).toEqual([]);
      expect((await database.execute(change)).rowCount).toBe(0);
      const foreign = await insertion(schema, table, other);
      await database.inProject(own, async () => {
        expect(count).toBeGreaterThan(0);
        expect(await selected()).toEqual(Array(count).fill({ project: own }));
        expect((await database.execute(change)).rowCount).toBe(count);
        const refusal = `new row violates row-level security policy for table "${name}"`;
        await expect(database.query(foreign.text, foreign.values)).rejects.toThrow(refusal);
        await expect(database.query(`UPDATE ${name} SET ${column} = ${other}`)).rejects.toThrow(
          refusal,
        );
      });
      expect(await database.acrossProjects(selected)).toHaveLength(count + 1);
    }
  } finally {
    await database.close();
  }
});
