import { release } from '@backlot/all-in-one/migrate-all';
import { migrations } from '@backlot/all-in-one/service-list';
import { type BlobStore, createBlobStore, readBlobStoreConfig } from '@backlot/storage';
import pg from 'pg';
import { applicationName } from './installation.ts';
import type { ServiceMigrations } from './load-database.ts';

export interface Installation {
  client: pg.Client;
  url: string;
  store: BlobStore;
  migrations: readonly ServiceMigrations[];
  release: string;
}

const connectTimeoutMs = 10_000;
/** More than files that are copied at once. */
const readSockets = 16;

/** The database, as the role that migrates, across all projects, and the store of files. */
export const openInstallation = async <T>(
  url: string,
  work: (installation: Installation) => Promise<T>,
): Promise<T> => {
  const store = await createBlobStore(readBlobStoreConfig(process.env, readSockets));
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // What is sent on a lost connection fails by itself.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`SET backlot.project = 'all'`);
    return await work({ client, url, store, migrations, release });
  } finally {
    await Promise.allSettled([client.end(), store.close()]);
  }
};
