import type pg from 'pg';

/** Records of about 1 KB; a status has 100 of them, a title one, a part a tenth, a word of `about` a thousandth. */
export interface Seed {
  projectId: number;
  collectionId: number;
  rows: number;
}

export const prices = 1_000_000;
export const parts = 10;
export const words = 1000;
export const countStatuses = (rows: number): number => Math.max(1, rows / 100);

/** The columns of `records` that hold the indexed fields of a collection. */
export const slotColumns = async (
  client: pg.Client,
  { projectId, collectionId }: Omit<Seed, 'rows'>,
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await client.query<{ field: string; slot: number }>(
    'SELECT field, slot FROM records.slots WHERE project_id = $1 AND coll_id = $2',
    [projectId, collectionId],
  );
  return new Map(rows.map(({ field, slot }) => [field, `k${slot}`]));
};

/**
 * Ids are as those of records that were created a millisecond apart, until a minute ago; indexed and counted as the
 * service would have.
 */
const insertSql = (columns: ReadonlyMap<string, string>) => {
  const keys = [...columns.keys()].map((field) => `, records.slot_key(data -> '${field}')`);
  return `WITH made AS (
    INSERT INTO records.records (project_id, coll_id, id, created_at, updated_at, data${[...columns.values()].map((column) => `, ${column}`).join('')})
    SELECT $1, $2, id, at, at, data${keys.join('')} FROM (
      SELECT timestamptz 'epoch' + ms * interval '1 ms' AS at,
        (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid AS id,
        jsonb_build_object(
          'title', md5(n::text), 'status', 'st-' || n % $4::int, 'price', n * 7919 % ${prices},
          'category', 'c-' || n % 997, 'part', n % $5::int, 'kind', 'kind-' || n % 20,
          'about', concat_ws(' ', 'w' || n * 7 % 1000, 'v' || n * 11 % 1000, 'u' || n * 13 % 1000, 't' || n * 17 % 1000),
          'text', repeat('x', 720), 'tags', jsonb_build_array('a', 'b', 'c')) AS data
      FROM (
        SELECT n, (extract(epoch FROM now()) * 1000)::int8 - 60000 - $3::int8 + n AS ms
        FROM generate_series(1, $3::int8) n OFFSET 0) times OFFSET 0) documents
    RETURNING size_bytes)
  INSERT INTO records.count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, count(*), sum(size_bytes) FROM made`;
};

export const seed = async (client: pg.Client, place: Seed): Promise<void> => {
  const { projectId, collectionId, rows } = place;
  const text = insertSql(await slotColumns(client, place));
  await client.query(text, [projectId, collectionId, rows, countStatuses(rows), parts]);
};

/** @returns ids of records by chance, of all the collection's pages */
export const someIds = async (
  client: pg.Client,
  { projectId, collectionId }: Seed,
  count = 2000,
) => {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM records.records TABLESAMPLE BERNOULLI (5)
     WHERE project_id = $1 AND coll_id = $2 ORDER BY random() LIMIT $3`,
    [projectId, collectionId, count],
  );
  return rows.map(({ id }) => id);
};

/** Far from any that the control plane gives out. */
const firstProject = 1_000_000;

const projectsSql = `WITH collections AS (
    INSERT INTO records.collections (project_id, coll_id, name, access, created_at, counted_at)
    SELECT ${firstProject} + project, coll, 'c' || coll, 'shared', now(), now()
    FROM generate_series(1, $1::int) project, generate_series(1, 3) coll)
  INSERT INTO records.records (project_id, coll_id, id, created_at, updated_at, data)
  SELECT ${firstProject} + project, coll, uuidv7, now(), now(),
    jsonb_build_object('status', 'st-' || n % 10, 'price', n, 'title', md5(n::text))
  FROM generate_series(1, $1::int) project, generate_series(1, 3) coll, generate_series(1, 100) n,
    LATERAL (SELECT (lpad(to_hex(1760000000000 + n), 12, '0') || '7000800000000000000' || '0')::uuid) made(uuidv7)`;

/** So many projects with 3 collections of 100 records each. */
export const seedProjects = (client: pg.Client, projects: number) =>
  client.query(projectsSql, [projects]);
