import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { addressFor, migrate } from '@backlot/database';
import { createFilledDatabase, type TestDatabase } from './servers/test-database.ts';

/** The schema and the folder of a service, which its definition has. */
export interface ServiceSchema {
  name: string;
  migrations: URL;
  distributed?: readonly string[] | undefined;
}

export interface ServiceDatabase extends TestDatabase {
  /** As the service itself connects: with the role that its process has. */
  url: string;
  /** Of the role that owns everything. */
  ownerUrl: string;
}

/** Migrates the database of this address; answers the address for the service. */
export const migrateForService = async (
  ownerUrl: string,
  { name, migrations, distributed }: ServiceSchema,
): Promise<string> => {
  const database = new URL(ownerUrl).pathname.slice(1);
  // Known to whoever migrates a second time, beside a service that is connected.
  const role = { name: `${database}_${name}`, password: 'the password of a test' };
  const directory = fileURLToPath(migrations);
  await migrate({ url: ownerUrl, schema: name, directory, role, distributed });
  return addressFor(role, ownerUrl);
};

/** A database of its own with the schema of a service and its role. */
export const createServiceDatabase = async (service: ServiceSchema): Promise<ServiceDatabase> => {
  const { name: schema, migrations } = service;
  const directory = fileURLToPath(migrations);
  const folder = createHash('sha256').update(directory).digest('hex').slice(0, 8);
  const { url: ownerUrl, drop } = await createFilledDatabase(`${schema}-${folder}`, (url) =>
    migrate({ url, schema, directory }),
  );
  return { url: await migrateForService(ownerUrl, service), ownerUrl, drop };
};
