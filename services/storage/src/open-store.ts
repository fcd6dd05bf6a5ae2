import { readSettings } from '@backlot/process';
import { z } from 'zod';
import type { BlobStore } from './blob-store/blob-store.ts';
import { createFilesystemBlobStore } from './blob-store/filesystem.ts';

export type BlobStoreConfig = { kind: 'filesystem'; directory: string };

const environment = z.object({ BACKLOT_STORAGE_DIR: z.string().min(1) });

/** Where files lie. @throws Error that names each wrong setting */
export const parseBlobStoreConfig = (
  env: Readonly<Record<string, string | undefined>>,
): BlobStoreConfig => ({
  kind: 'filesystem',
  directory: readSettings(environment, env).BACKLOT_STORAGE_DIR,
});

export const openBlobStore = (config: BlobStoreConfig): BlobStore =>
  createFilesystemBlobStore(config.directory);
