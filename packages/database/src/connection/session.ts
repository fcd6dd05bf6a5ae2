import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { translate } from '../errors.ts';

/** By name of PostgreSQL's setting. */
export type SessionSettings = Readonly<Record<string, string>>;

/** What pg's types leave out. */
interface Wire {
  processID: number | null;
}

/**
 * Settings for as long as the connection lasts, sent once it stands: poolers refuse or drop those that come with its
 * start. A pooler also makes up the number of the server process, which is read on the way.
 */
export const applySettings = async (
  client: pg.ClientBase,
  settings: SessionSettings,
): Promise<void> => {
  const names = Object.keys(settings);
  const sets = names.map(
    (name) =>
      `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(settings[name] ?? '')}, false)`,
  );
  const columns = ['pg_backend_pid() AS pid', ...sets].join(', ');
  const { rows } = await client.query<{ pid: number }>(`SELECT ${columns}`);
  (client as unknown as Wire).processID = rows[0]?.pid ?? null;
};

/** Behind the address, what one connection sends reaches sessions that others use as well. */
export class SessionsShared extends Error {
  override readonly name = 'SessionsShared';
  constructor(cause?: unknown) {
    super(
      'DATABASE_URL leads to a pooler that shares sessions between its clients (PgBouncer with pool_mode = transaction or statement). Settings of a session, and with them whose rows a service sees, would be lost. Use pool_mode = session or PostgreSQL itself (docs/scale-out.md).',
      { cause },
    );
  }
}

const rounds = 5;
const connectTimeoutMs = 10_000;
const answerTimeoutMs = 3000;
const setting = 'backlot.session';
const readSetting = `SELECT coalesce(current_setting('${setting}', true), '') AS value`;

const readValue = async (client: pg.Client): Promise<string | undefined> =>
  (await client.query<{ value: string }>(readSetting)).rows[0]?.value;

/** The other connection is in a transaction meanwhile, for which a pooler that shares sessions hands it one. */
const lookOnce = async (own: pg.Client, other: pg.Client): Promise<void> => {
  const value = randomUUID();
  await own.query(`SELECT set_config('${setting}', '${value}', false)`);
  await other.query('BEGIN').catch((error: unknown) => {
    // Statement by statement there are no transactions.
    throw error instanceof pg.DatabaseError ? new SessionsShared(error) : error;
  });
  const others = await readValue(other);
  const owns = await readValue(own).catch((error: unknown) => new SessionsShared(error));
  await other.query('ROLLBACK');
  if (owns !== value || others === value) throw new SessionsShared();
};

/**
 * Proves that a connection has a session to itself. Without a pooler in between one statement does.
 * @throws SessionsShared, DatabaseUnavailable
 */
export const requireOwnSessions = async (url: string): Promise<void> => {
  const config = { connectionString: url, query_timeout: answerTimeoutMs };
  const clients = [1, 2].map(
    () => new pg.Client({ ...config, connectionTimeoutMillis: connectTimeoutMs }),
  );
  const [own, other] = clients as [pg.Client, pg.Client];
  for (const client of clients) client.on('error', () => {});
  try {
    await own.connect();
    const { processID } = own as unknown as Wire;
    await applySettings(own, {});
    if (processID === (own as unknown as Wire).processID) return;
    await other.connect();
    for (let round = 0; round < rounds; round++) await lookOnce(own, other);
  } catch (error) {
    throw translate(error);
  } finally {
    for (const client of clients) client.end().catch(() => {});
  }
};
