import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { services } from '@backlot/contract';
import { migrate } from '@backlot/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from './servers/test-database.ts';

const serviceFolder = (service: string) =>
  new URL(`../../../services/${service}/`, import.meta.url);
const tablesFile = (service: string) =>
  fileURLToPath(new URL('src/tables.ts', serviceFolder(service)));
const described = Object.keys(services).filter((service) => existsSync(tablesFile(service)));
/** `BACKLOT_WRITE_TABLES=1 pnpm test tables` writes the files instead of comparing them. */
const isWriting = process.env.BACKLOT_WRITE_TABLES === '1';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const describeTables = async (schema: string): Promise<string> => {
  const directory = fileURLToPath(new URL('migrations', serviceFolder(schema)));
  await migrate({ url: database.url, schema, directory });
  const script = fileURLToPath(new URL('describe-tables.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, database.url, schema]);
  return stdout;
};

it.each(described)('tables.ts of %s is what its migrations make', async (service) => {
  const text = await describeTables(service);
  if (isWriting) await writeFile(tablesFile(service), text);
  expect(await readFile(tablesFile(service), 'utf8')).toBe(text);
});
