import { fileURLToPath } from 'node:url';
import { compare } from '../compare.ts';
import { load, residentMib } from '../load/load.ts';
import { data } from '../prepare.ts';
import { reachable, startProgram } from '../program.ts';
import { type Bed, index, withBed } from './bed.ts';
import { foundRows, listPath, prepareFound, type Row, some } from './found-rows.ts';
import { countStatuses, prices, seed, someIds } from './seed.ts';

const rows = 100_000;
const connections = 32;
const barePort = 18_720;
const usualPace = { rounds: 5, roundSeconds: 1 };
/** Of gets: on a slow machine calls were half as many in the first seconds of a process. */
const warmSeconds = 5;

/** The same documents in a table of its own, with the indexes that somebody would make by hand. */
const bareTable = `CREATE SCHEMA bench;
  CREATE TABLE bench.documents AS SELECT id, created_at, updated_at, data FROM records.records;
  ALTER TABLE bench.documents ADD PRIMARY KEY (id);
  CREATE INDEX ON bench.documents (created_at);
  CREATE INDEX ON bench.documents ((data ->> 'status'), created_at);
  CREATE INDEX ON bench.documents (((data ->> 'price')::numeric));
  CREATE INDEX ON bench.documents ((data ->> 'title'));`;

const startBare = async ({ databaseUrl, client, running }: Bed) => {
  await client.query(bareTable);
  await client.query('VACUUM ANALYZE bench.documents');
  const file = fileURLToPath(new URL('./bare-records.ts', import.meta.url));
  const bare = startProgram(file, [databaseUrl, String(barePort)], {});
  running.push(() => bare.stop());
  await reachable(`http://127.0.0.1:${barePort}/count`, 200);
  return bare;
};

/** The most that a process has had in memory while this ran, in MiB. */
const watchMemory = (pid: number) => {
  let most = 0;
  const look = () => {
    most = Math.max(most, residentMib(pid));
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    return most;
  };
};

const readRows = (ids: readonly string[]): Row[] => {
  const statuses = some(200, (n) => `st-${(n * 7) % countStatuses(rows)}`);
  const width = (prices / rows) * 200;
  const ranges = some(200, (n) => [(n * 4801) % prices, ((n * 4801) % prices) + width] as const);
  const where = (filter: object) => JSON.stringify(filter);
  return [
    {
      name: 'get',
      bound: 0.75,
      ours: { paths: ids.map((id) => `/${id}`) },
      bare: { paths: ids.map((id) => `/get/${id}`) },
    },
    { name: 'newest', bound: 0.7, ours: { paths: [listPath({})] }, bare: { paths: ['/newest'] } },
    {
      name: 'equal',
      bound: 0.7,
      needsIndex: true,
      ours: { paths: statuses.map((status) => listPath({ where: where({ status }) })) },
      bare: { paths: statuses.map((status) => `/status/${status}`) },
    },
    {
      name: 'range',
      bound: 0.7,
      needsIndex: true,
      ours: {
        paths: ranges.map(([from, to]) =>
          listPath({ where: where({ price: { $gte: from, $lt: to } }), sort: 'price' }),
        ),
      },
      bare: { paths: ranges.map(([from, to]) => `/price/${from}/${to}`) },
    },
    {
      name: 'title',
      bound: 0.7,
      needsIndex: true,
      ours: { paths: [listPath({ sort: 'title' })] },
      bare: { paths: ['/title'] },
    },
    { name: 'count', bound: 10, ours: { paths: ['/_count'] }, bare: { paths: ['/count'] } },
  ];
};

const writeRows = (ids: readonly string[]): Row[] => {
  const create = { method: 'POST', body: JSON.stringify({ data }) } as const;
  const patch = { method: 'PATCH', body: JSON.stringify({ data: { views: 7 } }) } as const;
  const bareCreate = { ...create, paths: ['/create'] };
  return [
    { name: 'create', bound: 0.6, ours: { ...create, paths: [''] }, bare: bareCreate },
    {
      name: 'create',
      bound: 0.6,
      ours: { ...create, paths: [''], isKeyed: true },
      bare: bareCreate,
    },
    {
      name: 'patch',
      bound: 0.6,
      ours: { ...patch, paths: ids.map((id) => `/${id}`) },
      bare: { ...patch, paths: ids.map((id) => `/patch/${id}`) },
    },
  ];
};

const batch = JSON.stringify({ create: some(100, () => ({ data })) });
const batchRows: Row[] = [1, 8].map((connections) => ({
  name: 'batch',
  bound: 0.6,
  connections,
  pace: { rounds: 5, roundSeconds: 2, restMs: 1000 },
  ours: { method: 'POST', body: batch, paths: ['/_batch'] },
  bare: { method: 'POST', body: batch, paths: ['/batch'] },
}));

const measure = async (bed: Bed, onlyFound: boolean) => {
  const subject = { ...bed.place, rows };
  await seed(bed.client, subject);
  await bed.client.query('VACUUM ANALYZE records.records');
  const bare = await startBare(bed);
  const isIndexed = await index(bed.origin, 'bench', ['status', 'price', 'title']);
  const ids = await someIds(bed.client, subject);
  const mostMib = watchMemory(bed.program.pid);
  const shared = {
    connections,
    headers: { authorization: `Bearer ${bed.token}`, 'content-type': 'application/json' },
  };
  const ourBase = `${bed.origin}/api/runtime/demo/db/bench`;
  const bareBase = `http://127.0.0.1:${barePort}`;
  await load({ ...shared, url: ourBase, paths: ids.map((id) => `/${id}`) }, warmSeconds);
  await load({ ...shared, url: bareBase, paths: ids.map((id) => `/get/${id}`) }, warmSeconds);
  const compareRow = async (row: Row) => {
    if (row.needsIndex && !isIndexed) return console.log(`${row.name.padEnd(8)}no index`);
    const rowConnections = row.connections ?? connections;
    const callers = rowConnections === 1 ? 'one caller' : `${rowConnections} callers`;
    const name = row.ours.isKeyed ? 'with an Idempotency-Key' : callers;
    const each = { ...shared, connections: rowConnections };
    await compare(
      row.name,
      row.bound,
      { name, pids: [bed.program.pid], request: { ...each, ...row.ours, url: ourBase } },
      {
        name: 'node:http + pg',
        pids: [bare.pid],
        request: { ...each, ...row.bare, url: bareBase },
      },
      row.pace ?? usualPace,
    ).catch(({ message }: Error) => console.log(`${row.name.padEnd(8)}${message}`));
  };
  if (!onlyFound) for (const row of [...readRows(ids), ...writeRows(ids)]) await compareRow(row);
  await prepareFound(bed);
  for (const row of foundRows(connections)) await compareRow(row);
  // At last, because they make the collection larger.
  if (!onlyFound) for (const row of batchRows) await compareRow(row);
  console.log(`memory  at most ${mostMib().toFixed(0)} MiB   (bound: 400)`);
};

/** 100,000 records of 1 KB against a bare server with indexes made by hand; or searches and sums of them alone. */
export const benchEveryday = (onlyFound: boolean): Promise<void> =>
  withBed((bed) => measure(bed, onlyFound));
