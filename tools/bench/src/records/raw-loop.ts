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
    patch: {
      text: `UPDATE records.records SET data = data || $4, updated_at = now()
        WHERE ${inCollection} AND id = $3 RETURNING ${json} AS text`,
      values: () => [ids[random(ids.length)], { views: random(1000) }],
    },
  } satisfies Record<string, RawStatement>;
};

const owner = randomUUID();

/**
 * Ids in the order of their creation, and a key of each indexed field, as the service writes them: chance ids would
 * fall on pages all over the primary key, and an index without keys would cost nothing.
 * @param columns as for `rawStatements`; none of a collection without indexes
 */
export const rawCreate = (columns: ReadonlyMap<string, string> = new Map()): RawStatement => ({
  text: `WITH created AS (
      INSERT INTO records.records (project_id, coll_id, id, owner_id, created_at, updated_at, data${[...columns.values()].map((column) => `, ${column}`).join('')})
      VALUES ($1, $2, uuidv7(), $3, now(), now(), $4${[...columns.keys()].map((field) => `, records.slot_key($4::jsonb -> '${field}')`).join('')})
      RETURNING size_bytes)
    INSERT INTO records.count_delta (project_id, coll_id, d, bytes)
    SELECT $1, $2, 1, size_bytes FROM created`,
  values: () => [owner, data],
});

/**
 * Kept over all rounds: PostgreSQL's processes of new connections are cold, and answered 4,618 gets in their first
 * second, 16,529 in their third.
 */
export const openRawLoops = async (databaseUrl: string): Promise<pg.Client[]> => {
  const clients = Array.from(
    { length: connections },
    () => new pg.Client({ connectionString: databaseUrl }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
};

/** @returns calls a second, by one loop on each connection */
export const rawRate = async (
  clients: readonly pg.Client[],
  name: string,
  { text, values }: RawStatement,
  { projectId, collectionId }: Seed,
  seconds: number,
): Promise<number> => {
  const end = performance.now() + seconds * 1000;
  const loop = async (client: pg.Client) => {
    let calls = 0;
    for (; performance.now() < end; calls++)
      await client.query({ name, text, values: [projectId, collectionId, ...values()] });
    return calls;
  };
  const counts = await Promise.all(clients.map(loop));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
};
