import { apiAt } from '@backlot/testing/platform-api';
import pg from 'pg';

export const operatorToken = 'operator-of-the-benchmark';

/** A record of 951 bytes of JSON (docs/decisions/0002). */
export const data = {
  title: 'A record of about one kilobyte',
  text: 'x'.repeat(780),
  tags: ['a', 'b', 'c'],
  nested: { amount: 12.5, ok: true },
  count: 42,
};

/** Limits that no benchmark reaches. */
export const liftLimits = async (origin: string, project: string): Promise<void> => {
  const wide = { perCaller: 1_000_000, perProject: 1_000_000 };
  const { status, body } = await apiAt(`${origin}/api/platform`)(
    'PUT',
    `/projects/${project}/limits`,
    { token: operatorToken, body: { read: wide, write: wide } },
  );
  if (status !== 200) throw new Error(JSON.stringify(body));
};

/** Lifts the limits of the demo project, signs a user up and keeps a record. */
export const prepare = async (origin: string, databaseUrl: string) => {
  const api = apiAt(`${origin}/api/runtime/demo`);
  await liftLimits(origin, 'demo');
  const account = await api('POST', '/auth/signup', {
    body: { email: `${Date.now()}@example.org`, password: 'a good long password' },
  });
  const record = await api('POST', '/db/bench', { token: account.body.token, body: { data } });
  if (record.status !== 201) throw new Error(JSON.stringify(record.body));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'SELECT project_id, coll_id FROM records.records WHERE id = $1',
    [record.body.id],
  );
  await client.end();
  return {
    token: account.body.token as string,
    id: record.body.id as string,
    place: [String(rows[0].project_id), String(rows[0].coll_id)],
  };
};
