import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { data } from '../prepare.ts';
import { countStatuses, prices, type Seed } from './seed.ts';

/** What the records' statements come down to, sent by pg and nothing else, over so many connections. */
export const connections = 8;

export interface RawStatement {
  text: string;
  /** Of one call, without project and collection. */
  values: () => unknown[];
}

const inCollection = 'project_id = $1 AND coll_id = $2';
const json = `'{"id":"' || id || '","createdAt":"' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '",' || right(data::text, -1)`;
const page = (rest: string) =>
  `SELECT string_agg(${json}, ',') AS text FROM (
     SELECT * FROM records.records WHERE ${inCollection} ${rest} LIMIT 50) rows`;

export const random = (below: number): number => Math.floor(Math.random() * below);

/** @param columns of `records` that hold the indexed fields */
export const rawStatements = (
  { rows }: Seed,
  ids: readonly string[],
  columns: ReadonlyMap<string, string>,
) => {
  const [status, price, title] = ['status', 'price', 'title'].map((field) => columns.get(field));
  const width = (prices / rows) * 200;
  const range = () => {
    const from = random(prices);
    return [from, from + width];
  };
  return {
    get: {
      text: `SELECT ${json} AS text FROM records.records WHERE ${inCollection} AND id = $3`,
      values: () => [ids[random(ids.length)]],
    },
    newest: { text: page('ORDER BY id DESC'), values: () => [] },
    equal: {
      text: page(`AND ${status} = to_jsonb($3::text) ORDER BY id DESC`),
      values: () => [`st-${random(countStatuses(rows))}`],
    },
    range: {
      text: page(
        `AND ${price} >= to_jsonb($3::numeric) AND ${price} < to_jsonb($4::numeric) ORDER BY ${price}, id`,
      ),
      values: range,
    },
    title: { text: page(`AND ${title} IS NOT NULL ORDER BY ${title}, id`), values: () => [] },
    create: {
      text: `WITH created AS (
          INSERT INTO records.records (project_id, coll_id, id, created_at, updated_at, data)
          VALUES ($1, $2, $3, now(), now(), $4) RETURNING size_bytes)
        INSERT INTO records.count_delta (project_id, coll_id, d, bytes)
        SELECT $1, $2, 1, size_bytes FROM created`,
      values: () => [randomUUID(), data],
    },
    patch: {
      text: `UPDATE records.records SET data = data || $4, updated_at = now()
        WHERE ${inCollection} AND id = $3 RETURNING ${json} AS text`,
      values: () => [ids[random(ids.length)], { views: random(1000) }],
    },
  } satisfies Record<string, RawStatement>;
};

/** @returns calls a second */
export const rawRate = async (
  databaseUrl: string,
  name: string,
  { text, values }: RawStatement,
  { projectId, collectionId }: Seed,
  seconds: number,
): Promise<number> => {
  const end = performance.now() + seconds * 1000;
  const loop = async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    let calls = 0;
    for (; performance.now() < end; calls++)
      await client.query({ name, text, values: [projectId, collectionId, ...values()] });
    await client.end();
    return calls;
  };
  const counts = await Promise.all(Array.from({ length: connections }, loop));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
};
