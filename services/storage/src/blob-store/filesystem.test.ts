import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import { blobStoreConformance } from './blob-store.conformance.ts';
import { BlobStoreUnavailable } from './blob-store.ts';
import { createFilesystemBlobStore, ResumableFiles, translateDiskErrors } from './filesystem.ts';
import { resumableConformance } from './resumable.conformance.ts';

const start = async (pathEnd = '') => {
  const directory = await mkdtemp(join(tmpdir(), 'backlot-blobs-'));
  return {
    directory,
    store: createFilesystemBlobStore(directory + pathEnd),
    leftovers: async () => readdir(directory, { recursive: true }),
    close: () => rm(directory, { recursive: true }),
  };
};

blobStoreConformance('filesystem', () => start());
resumableConformance('filesystem', () => start());

it('a folder is the same with and without a slash at its end', async () => {
  const { store, leftovers, close } = await start('/');
  await store.put('1001/a', Readable.from([Buffer.from('bytes')]));
  expect(await store.sizeBytes('1001/a')).toBe(5);
  expect(await leftovers()).toContain('blobs/1001/a');
  await close();
});

it('folders that somebody has removed are made anew', async () => {
  const { store, leftovers, directory, close } = await start();
  const bytes = () => Readable.from([Buffer.from('bytes')]);
  await store.put('1001/a', bytes());
  for (const area of ['blobs', 'partial']) await rm(join(directory, area), { recursive: true });
  await store.put('1001/b', bytes());
  expect(await leftovers()).toContain('blobs/1001/b');
  await close();
});

const notes = { get: async () => undefined, set: async () => {}, delete: async () => {} };

describe('a disk that is full', () => {
  it('makes the store unavailable to a blob', async () => {
    const source = Readable.from([Buffer.from('bytes')]);
    await expect(translateDiskErrors(writeFile('/dev/full', source))).rejects.toThrow(
      BlobStoreUnavailable,
    );
  });

  it('makes the store unavailable to a part, for whoever pipes it', async () => {
    const store = new ResumableFiles('/dev', notes);
    const chunks = Array.from({ length: 100 }, () => Buffer.alloc(64 * 1024));
    const source = new PassThrough();
    const piped = pipeline(Readable.from(chunks), source, () => store.write(source, 'full', 0));
    await expect(piped).rejects.toThrow(BlobStoreUnavailable);
  });
});
