import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '@backlot/storage';
import type pg from 'pg';
import { beginSnapshot, dumpDatabase } from './dump-database.ts';
import { copyFiles, listFiles } from './files.ts';
import { type Manifest, writeManifest } from './manifest.ts';

export interface BackupOptions {
  client: pg.ClientBase;
  store: BlobStore;
  /** Of the services. */
  schemas: readonly string[];
  folder: string;
  release: string;
  keys: Manifest['keys'];
  say: (text: string) => void;
}

/** What a back-up that was killed leaves; files among it are not copied again. */
const ownEntries = ['database', 'files', 'files.wanted', 'files.ndjson', 'manifest.json'];

/** @throws Error where something else lies there, a whole back-up included */
const prepareFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const others = (await readdir(folder)).filter((entry) => !ownEntries.includes(entry));
  if (others.length > 0)
    throw new Error(
      `${folder} is not empty (${others[0]}): a back-up goes into a folder of its own.`,
    );
  await rm(join(folder, 'database'), { recursive: true, force: true });
};

/**
 * First the rows, of one moment, then the files that they name: files never change once they are there.
 * @throws Error where it is not whole; the folder then says so by having no `manifest.sha256`
 */
export const makeBackup = async (options: BackupOptions): Promise<Manifest> => {
  const { client, store, schemas: names, folder, release, keys, say } = options;
  await prepareFolder(folder);
  const tables = await beginSnapshot(client, names);
  const beganAt = new Date().toISOString();
  const missing = names.filter((name) => !tables.some(({ schema }) => schema === name));
  if (missing.length > 0)
    throw new Error(`The database has no tables of ${missing.join(', ')}: is it that of Backlot?`);
  say(`${tables.length} tables …`);
  const schemas = await dumpDatabase(client, folder, tables);
  await listFiles(client, folder);
  await client.query('COMMIT');
  say('files …');
  const files = await copyFiles(client, store, folder);
  const endedAt = new Date().toISOString();
  const manifest: Manifest = { format: 1, release, beganAt, endedAt, keys, schemas, files };
  await writeManifest(folder, manifest);
  return manifest;
};
