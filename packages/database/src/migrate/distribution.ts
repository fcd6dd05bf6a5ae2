import pg from 'pg';

/** For connections that change distributed tables and make functions in one transaction; PostgreSQL without Citus takes it too. */
export const changesOneByOne = { 'citus.multi_shard_modify_mode': 'sequential' };

export interface Distribution {
  schema: string;
  /** Each has the column `project_id`, which is in all of its keys. */
  tables: readonly string[];
}

const selectMissing = `
  SELECT c.relname AS table FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND c.relname = ANY ($2)
     AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid AND d.partmethod = 'h')
   ORDER BY array_position($2, c.relname::text)`;

/** Whether the database is the coordinator of a Citus cluster that has nodes for distributed tables. */
const isCoordinator = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows: extensions } = await client.query(
    `SELECT FROM pg_extension WHERE extname = 'citus'`,
  );
  if (extensions.length === 0) return false;
  const { rows: nodes } = await client.query(
    'SELECT FROM pg_dist_node WHERE isactive AND shouldhaveshards LIMIT 1',
  );
  return nodes.length > 0;
};

/**
 * Spreads the tables over the nodes of a Citus cluster, all rows of a project to one; does nothing elsewhere, and to
 * tables that are spread already. Who writes to them waits meanwhile.
 */
export const distribute = async (
  client: pg.ClientBase,
  { schema, tables }: Distribution,
): Promise<void> => {
  if (!(await isCoordinator(client))) return;
  const first = `${schema}.${tables[0]}`;
  const { rows } = await client.query<{ table: string }>(selectMissing, [schema, tables]);
  const names = rows.map(({ table }) => ({
    table,
    name: `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`,
  }));
  await client.query('BEGIN');
  for (const { table, name } of names)
    await client.query(
      `SELECT create_distributed_table($1::regclass, 'project_id', colocate_with => $2)`,
      [name, table === tables[0] ? 'none' : first],
    );
  // What has moved; not before all have that refer to each other.
  for (const { name } of names)
    await client.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [name]);
  await client.query('COMMIT');
};
