import type pg from 'pg';

/** Records of about 1 KB; a status has 100 of them, a title one. */
export interface Seed {
  projectId: number;
  collectionId: number;
  rows: number;
}

export const prices = 1_000_000;
export const statusesOf = (rows: number): number => Math.max(1, rows / 100);

/** Ids are as those of records that were created a millisecond apart, until a minute ago. */
const insertSql = `INSERT INTO records.records (project_id, coll_id, id, created_at, updated_at, data)
  SELECT $1, $2, id, at, at, jsonb_build_object(
    'title', md5(n::text), 'status', 'st-' || n % $4::int, 'price', n * 7919 % ${prices},
    'category', 'c-' || n % 997, 'text', repeat('x', 780), 'tags', jsonb_build_array('a', 'b', 'c'))
  FROM (
    SELECT n, timestamptz 'epoch' + ms * interval '1 ms' AS at,
      (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid AS id
    FROM (
      SELECT n, (extract(epoch FROM now()) * 1000)::int8 - 60000 - $3::int8 + n AS ms
      FROM generate_series(1, $3::int8) n) times) made`;

/** What the service would have counted for them. */
const countSql = `INSERT INTO records.count_delta (project_id, coll_id, d, bytes)
  SELECT $1, $2, count(*), sum(size_bytes) FROM records.records WHERE project_id = $1 AND coll_id = $2
    AND created_at < now() - interval '59 s'`;

export const seed = async (
  client: pg.Client,
  { projectId, collectionId, rows }: Seed,
): Promise<void> => {
  await client.query(insertSql, [projectId, collectionId, rows, statusesOf(rows)]);
  await client.query(countSql, [projectId, collectionId]);
};

/** @returns ids of records by chance */
export const someIds = async (client: pg.Client, { projectId, collectionId }: Seed) => {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM records.records TABLESAMPLE SYSTEM (10)
     WHERE project_id = $1 AND coll_id = $2 LIMIT 2000`,
    [projectId, collectionId],
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
