import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobStoreConformance } from './blob-store.conformance.ts';
import { createFilesystemBlobStore } from './filesystem.ts';
import { resumableConformance } from './resumable.conformance.ts';

const start = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backlot-blobs-'));
  return {
    store: createFilesystemBlobStore(directory),
    leftovers: async () => readdir(directory, { recursive: true }),
    close: () => rm(directory, { recursive: true }),
  };
};

blobStoreConformance('filesystem', start);
resumableConformance('filesystem', start);
