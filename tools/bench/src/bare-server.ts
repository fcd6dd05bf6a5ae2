/**
 * What the platform is compared with: node:http and pg, nothing else. It answers the same rows as the
 * records service with the fewest steps that a handler could take: no router, no authentication, no
 * limits, no validation.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const [url = '', project = '', collection = '', port = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 8 });
const readers = await Promise.all(
  [0, 1].map(async () => {
    const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
    await client.connect();
    return client;
  }),
);
let turn = 0;

const text = `'{"id":"'||id||'","createdAt":"'||to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')||'",'||substr(data::text, 2) AS text`;
const get = {
  name: 'get',
  text: `SELECT ${text} FROM records.records WHERE project_id = $1 AND coll_id = $2 AND id = $3`,
};
const insert = {
  name: 'insert',
  text: `INSERT INTO records.records (project_id, coll_id, id, created_at, updated_at, data) VALUES ($1, $2, $3, now(), now(), $4) RETURNING ${text}`,
};

const answer = (res: import('node:http').ServerResponse, status: number, body: string) => {
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(body);
};

createServer((req, res) => {
  if (req.method === 'GET') {
    const client = readers[turn++ % readers.length] ?? pool;
    client
      .query<{ text: string }>({ ...get, values: [project, collection, req.url?.slice(1)] })
      .then(({ rows }) => answer(res, rows[0] ? 200 : 404, rows[0]?.text ?? '{}'));
    return;
  }
  let body = '';
  req.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  req.on('end', () => {
    const { data } = JSON.parse(body);
    pool
      .query<{ text: string }>({ ...insert, values: [project, collection, randomUUID(), data] })
      .then(({ rows }) => answer(res, 201, rows[0]?.text ?? '{}'));
  });
}).listen(Number(port), '127.0.0.1');
