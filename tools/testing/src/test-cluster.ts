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

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
