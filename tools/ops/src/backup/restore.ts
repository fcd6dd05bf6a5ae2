import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '@backlot/storage';
import type pg from 'pg';
import { checkFiles, putFiles, requireNoFiles } from './files.ts';
import { dropSchemas, requireEmpty } from './installation.ts';
import { loadDatabase, requireKnownMigrations, type ServiceMigrations } from './load-database.ts';
import { fileListPath, type Manifest, readManifest } from './manifest.ts';
import { checkPart } from './parts.ts';

/** Reads every part. @throws DamagedBackup naming the first that is not as it was written */
export const checkBackup = async (folder: string): Promise<Manifest> => {
  const manifest = await readManifest(folder);
  for (const { path, part } of manifest.schemas.flatMap(({ tables }) => tables))
    await checkPart(join(folder, path), part);
  await checkPart(fileListPath(folder), manifest.files.list);
  await checkFiles(folder);
  return manifest;
};

export interface RestoreOptions {
  client: pg.ClientBase;
  url: string;
  store: BlobStore;
  migrations: readonly ServiceMigrations[];
  folder: string;
  manifest: Manifest;
  /** A restore that broke off has put files into the store. */
  continues: boolean;
  say: (text: string) => void;
}

/**
 * Files first, then all rows in one transaction: until its end the installation is empty, and a restore
 * that was killed may be run again.
 * @throws Error naming what is in the way, before anything is written
 */
export const restoreBackup = async (options: RestoreOptions): Promise<void> => {
  const { client, url, store, migrations, folder, manifest, continues, say } = options;
  const schemas = migrations.map(({ schema }) => schema);
  await requireKnownMigrations(manifest, migrations, (directory) => readdir(directory));
  await requireEmpty(client, schemas);
  if (!continues) await requireNoFiles(store, folder);
  say(`${manifest.files.count} files …`);
  await putFiles(store, folder);
  say('tables …');
  await dropSchemas(client, schemas);
  await loadDatabase(client, url, folder, manifest, migrations);
};
