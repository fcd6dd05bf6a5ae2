/**
 * What the records are compared with: node:http and pg, a table of its own with the indexes that
 * somebody would make by hand, prepared statements, JSON written by PostgreSQL. No authentication, no
 * limits, no validation.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';

const [url = '', port = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 8 });

const json = `'{"id":"' || id || '","createdAt":"' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '",' || substr(data::text, 2)`;
const page = (rows: string) =>
  `SELECT '{"items":[' || coalesce(string_agg(${json}, ','), '') || ']}' AS text FROM (SELECT * FROM bench.documents ${rows} LIMIT 50) rows`;

const statements = {
  get: `SELECT ${json} AS text FROM bench.documents WHERE id = $1`,
  newest: page('ORDER BY created_at DESC'),
  status: page(`WHERE data ->> 'status' = $1 ORDER BY created_at DESC`),
  price: page(
    `WHERE (data ->> 'price')::numeric >= $1 AND (data ->> 'price')::numeric < $2 ORDER BY (data ->> 'price')::numeric`,
  ),
  title: page(`ORDER BY data ->> 'title'`),
  count: `SELECT '{"count":' || count(*) || '}' AS text FROM bench.documents`,
  search: page(
    `WHERE words @@ to_tsquery('simple', $1 || ':*') ORDER BY ts_rank(words, to_tsquery('simple', $1 || ':*'), 1) DESC, id DESC`,
  ),
  sums: `SELECT json_build_object('groups', json_agg(rows))::text AS text FROM (
    SELECT data ->> 'kind' AS "group", count(*), sum((data ->> 'price')::numeric) FROM bench.documents
    WHERE (data ->> 'part')::int = $1 GROUP BY 1 ORDER BY 2 DESC) rows`,
  create: `INSERT INTO bench.documents (id, created_at, updated_at, data) VALUES ($1, now(), now(), $2) RETURNING ${json} AS text`,
  batch: `WITH made AS (
    INSERT INTO bench.documents (id, created_at, updated_at, data)
    SELECT id, now(), now(), data FROM unnest($1::uuid[], $2::jsonb[]) given(id, data) RETURNING id)
    SELECT json_build_object('create', json_agg(made))::text AS text FROM made`,
  patch: `UPDATE bench.documents SET data = data || $2, updated_at = now() WHERE id = $1 RETURNING ${json} AS text`,
};

const answer = async (
  res: ServerResponse,
  name: keyof typeof statements,
  values: readonly unknown[],
) => {
  const query = { name, text: statements[name], values: [...values] };
  const { rows } = await pool.query<{ text: string }>(query);
  const text = rows[0]?.text ?? '{}';
  res.writeHead(rows[0] ? 200 : 404, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  res.end(text);
};

createServer((req, res) => {
  const [, name = '', ...values] = (req.url ?? '').split('/');
  if (req.method === 'GET') return void answer(res, name as keyof typeof statements, values);
  let body = '';
  req.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  req.on('end', () => {
    const { data, create } = JSON.parse(body);
    if (create) {
      const documents = create.map((record: { data: object }) => JSON.stringify(record.data));
      return void answer(res, 'batch', [documents.map(() => randomUUID()), documents]);
    }
    const id = values[0] ?? randomUUID();
    void answer(res, req.method === 'POST' ? 'create' : 'patch', [id, data]);
  });
}).listen(Number(port), '127.0.0.1');
