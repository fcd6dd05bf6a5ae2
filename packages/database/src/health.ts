import pg from 'pg';
import { isRefusal } from './errors.ts';

/**
 * `connections_exhausted`: no further one is to be had, those that are there work. `disk_full`, `read_only`:
 * reads work and writes fail.
 */
export type DatabaseTrouble =
  | 'connections_exhausted'
  | 'disk_full'
  | 'read_only'
  | 'refuses_role'
  | 'out_of_reach';

const lookMs = 1500;

/** More than this memory holds, so that PostgreSQL writes a file where its tables are. */
const writesFile = `
  SET LOCAL work_mem = '64kB';
  SELECT count(*) FROM
    (SELECT repeat('x', 100) || n AS line FROM generate_series(1, 2000) AS n ORDER BY line OFFSET 1) AS sorted;
  SELECT current_setting('transaction_read_only') AS is_read_only;
`;

const byCode: Readonly<Record<string, DatabaseTrouble>> = {
  '53300': 'connections_exhausted',
  '53100': 'disk_full',
  '53400': 'disk_full',
  '25006': 'read_only',
};

/** PgBouncer says the same of its own bounds without a code of its own. */
const hasNoMore = (message: string) => /no more connections allowed|max_client_conn/.test(message);

/** No further connection is to be had, for now. */
const isExhausted = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === '53300' || hasNoMore(error.message));

/** For now, or until somebody changes the role: whoever has connections keeps to them. */
export const givesNoFurther = (error: unknown): boolean => isExhausted(error) || isRefusal(error);

/**
 * On a new connection, in a second and a half. Undefined where PostgreSQL does its work, and where it did not
 * say in time that it doesn't.
 * @param onConnect told how connecting ended
 */
export const lookForTrouble = async (
  connection: pg.ClientConfig,
  onConnect: (error: unknown) => void,
): Promise<DatabaseTrouble | undefined> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: lookMs });
  client.on('error', () => {});
  const timer = setTimeout(() => void client.end().catch(() => {}), lookMs).unref();
  try {
    await client.connect();
    onConnect(null);
    const results = (await client.query(
      `BEGIN; ${writesFile} COMMIT`,
    )) as unknown as pg.QueryResult[];
    return results.at(-2)?.rows[0]?.is_read_only === 'on' ? 'read_only' : undefined;
  } catch (error) {
    onConnect(error);
    if (isExhausted(error)) return 'connections_exhausted';
    if (isRefusal(error)) return 'refuses_role';
    return error instanceof pg.DatabaseError ? byCode[error.code ?? ''] : undefined;
  } finally {
    clearTimeout(timer);
    client.end().catch(() => {});
  }
};
