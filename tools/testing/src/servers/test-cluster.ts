import pg from 'pg';

/** Nodes of the Citus cluster whose coordinator has this address; none where it is PostgreSQL alone. */
export async function findWorkers(coordinatorUrl: string): Promise<string[]> {
  return withClient(coordinatorUrl, async (client) => {
    const { rows: extensions } = await client.query(
      `SELECT FROM pg_extension WHERE extname = 'citus'`,
    );
    if (extensions.length === 0) return [];
    const { rows } = await client.query<{ nodename: string; nodeport: number }>(
      'SELECT nodename, nodeport FROM pg_dist_node WHERE isactive AND shouldhaveshards ORDER BY nodeid',
    );
    return rows.map(({ nodename, nodeport }) => {
      const url = new URL(coordinatorUrl);
      [url.hostname, url.port] = [nodename, String(nodeport)];
      return url.href;
    });
  });
}

/** Fewer than usual: tests make many databases. */
const shardCount = 4;

/** Makes one cluster of databases with the same name, which are there and empty on all nodes. */
export async function joinDatabases(
  coordinatorUrl: string,
  workers: readonly string[],
  database: string,
): Promise<void> {
  const onDatabase = (server: string) => {
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url;
  };
  await Promise.all(
    [coordinatorUrl, ...workers].map((server) =>
      withClient(onDatabase(server).href, (client) => client.query('CREATE EXTENSION citus')),
    ),
  );
  const coordinator = onDatabase(coordinatorUrl);
  await withClient(coordinator.href, async (client) => {
    const place = (url: URL) => [url.hostname, Number(url.port || 5432)];
    await client.query('SELECT citus_set_coordinator_host($1, $2)', place(coordinator));
    for (const worker of workers)
      await client.query('SELECT citus_add_node($1, $2)', place(onDatabase(worker)));
    await client.query(`ALTER DATABASE ${database} SET citus.shard_count = ${shardCount}`);
  });
}

export interface OtherNodes {
  /** None on PostgreSQL alone. */
  count: number;
  /** Number of a project whose rows are on one of them. */
  project: number;
  /** As if they were stopped, for this database alone. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

/** The nodes of a cluster that have no rows of a project. */
export async function findOtherNodes(
  databaseUrl: string,
  table: string,
  project: number,
): Promise<OtherNodes> {
  const workers = await findWorkers(databaseUrl);
  const findProjectHost = async (number: number) =>
    (await findHost(databaseUrl, table, number)) ?? '';
  const own = workers.length > 0 ? await findProjectHost(project) : '';
  let elsewhere = project + 1;
  while (workers.length > 1 && (await findProjectHost(elsewhere)) === own) elsewhere++;
  const others = workers.map((url) => new URL(url).host).filter((host) => host !== own);
  const database = new URL(databaseUrl).pathname.slice(1);
  const onEach = async (text: string, values?: string[]) => {
    for (const host of others) {
      const server = new URL(process.env.TEST_DATABASE_URL ?? '');
      server.host = host;
      await withClient(server.href, (client) => client.query(text, values));
    }
  };
  return {
    count: others.length,
    project: elsewhere,
    async leave() {
      await onEach(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
      const sessions = 'FROM pg_stat_activity WHERE datname = $1';
      await onEach(`SELECT pg_terminate_backend(pid, 5000) ${sessions}`, [database]);
    },
    comeBack: () => onEach(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`),
  };
}

const findHost = (databaseUrl: string, table: string, project: number) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ host: string }>(
      `SELECT nodename || ':' || nodeport AS host FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
       WHERE shardid = get_shard_id_for_distribution_column($1::regclass, $2::int8)`,
      [table, project],
    );
    return rows[0]?.host;
  });

/**
 * Waits until nobody else uses the table with a project's rows, on their own node, and keeps it until `work` has
 * ended: who comes to it meanwhile waits.
 * @param table with its schema
 */
export async function withTableAlone<T>(
  databaseUrl: string,
  table: string,
  project: number,
  work: (isAlone: Promise<unknown>) => Promise<T>,
): Promise<T> {
  const isSpread = (await findWorkers(databaseUrl)).length > 0;
  const host = isSpread ? await findHost(databaseUrl, table, project) : undefined;
  const url = new URL(databaseUrl);
  if (host !== undefined) url.host = host;
  const name = host === undefined ? table : await findShard(databaseUrl, table, project);
  return withClient(url.href, async (client) => {
    await client.query('BEGIN; SET LOCAL citus.enable_manual_changes_to_shards = on');
    const isAlone = client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
    return work(isAlone);
  });
}

const findShard = (databaseUrl: string, table: string, project: number) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT shard_name($1::regclass, get_shard_id_for_distribution_column($1::regclass, $2::int8)) AS name`,
      [table, project],
    );
    return rows[0]?.name;
  });

/** How many sessions of a database wait for a lock, on all nodes of its cluster. */
export async function countLockWaits(databaseUrl: string): Promise<number> {
  const counts = [databaseUrl, ...(await findWorkers(databaseUrl))].map((url) =>
    withClient(url, async (client) => {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length;
    }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
