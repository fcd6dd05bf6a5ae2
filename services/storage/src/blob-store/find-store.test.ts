import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { BlobNotFound, type BlobStore, BlobStoreUnavailable } from './blob-store.ts';
import { createFilesystemBlobStore } from './filesystem.ts';
import { createFindStore } from './find-store.ts';

const answering = (sizeBytes: BlobStore['sizeBytes']) =>
  createFindStore({ sizeBytes } as BlobStore)();

it('a folder that can be written works, one that can not be made does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-find-store-'));
  const find = (directory: string) => createFindStore(createFilesystemBlobStore(directory))();
  expect(await find(folder)).toEqual({ name: 'files', state: 'works' });
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(await find(file)).toMatchObject({ state: 'missing' });
  await rm(folder, { recursive: true });
});

it('a store that knows no such blob works; one that refuses, or is silent, does not', async () => {
  expect(await answering(() => Promise.reject(new BlobNotFound('none')))).toMatchObject({
    state: 'works',
  });
  const away = { name: 'files', state: 'missing', reason: 'out_of_reach' };
  expect(await answering(() => Promise.reject(new BlobStoreUnavailable('away')))).toEqual(away);
  expect(await answering(() => new Promise(() => {}))).toEqual(away);
});

it('is asked once in some seconds, for all who ask', async () => {
  let asked = 0;
  const find = createFindStore({
    sizeBytes: async () => {
      asked += 1;
      return 0;
    },
  } as unknown as BlobStore);
  await Promise.all([find(), find()]);
  await find();
  expect(asked).toBe(1);
});
