import pg from 'pg';
import { applySettings, type SessionSettings } from '../connection/session.ts';
import { translate } from '../errors.ts';

/** No call waits for a migration, and a busy machine takes seconds; a server that takes longer is as good as away. */
const connectTimeoutMs = 10_000;

/** Work on one connection of its own, which ends with it. @throws DatabaseUnavailable */
export const withClient = async <T>(
  { settings = {}, ...config }: pg.ClientConfig & { settings?: SessionSettings },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({ connectionTimeoutMillis: connectTimeoutMs, ...config });
  // What is sent on a lost connection fails by itself.
  client.on('error', () => {});
  try {
    await client.connect();
    await applySettings(client, settings);
    const result = await work(client);
    await client.end();
    return result;
  } catch (error) {
    // Not waited for: a server that is silent does not say goodbye either.
    client.end().catch(() => {});
    throw translate(error);
  }
};
