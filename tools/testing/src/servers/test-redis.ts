import { startRedis } from '@backlot/local-servers';
import { Redis } from 'ioredis';
import { startOncePerRun } from './lazy-server.ts';

export interface TestRedis {
  /** Of an empty database of this test's own, by its number. */
  url: string;
  /** Empties the database and gives it back. */
  drop(): Promise<void>;
}

/** Database 0 holds who has which; a lease ends by itself when a test was killed. */
const leaseSeconds = 3600;
const leaseKey = (database: number) => `backlot:test-database:${database}`;

/** On the server of TEST_REDIS_URL, or on one started for the run at the first call. */
export async function createTestRedis(): Promise<TestRedis> {
  const serverUrl = process.env.TEST_REDIS_URL ?? (await startOncePerRun('redis', start));
  const database = await onServer(serverUrl, 0, lease);
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  await onServer(serverUrl, database, (client) => client.flushdb());
  return {
    url: url.href,
    async drop() {
      await onServer(serverUrl, database, (client) => client.flushdb());
      await onServer(serverUrl, 0, (client) => client.del(leaseKey(database)));
    },
  };
}

async function start(dataDir: string): Promise<string> {
  return (await startRedis({ dataDir, throwaway: true })).url;
}

async function lease(client: Redis): Promise<number> {
  const [, count = '16'] = (await client.config('GET', 'databases')) as string[];
  for (let database = 1; database < Number(count); database++) {
    if (await client.set(leaseKey(database), '1', 'EX', leaseSeconds, 'NX')) return database;
  }
  throw new Error('All databases of the Redis for tests are in use.');
}

async function onServer<T>(url: string, db: number, work: (client: Redis) => Promise<T>) {
  const client = new Redis(url, { db, lazyConnect: true, retryStrategy: null });
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.disconnect();
  }
}
