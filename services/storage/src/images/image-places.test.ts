import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anonymous, testProject, until } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import { createTestBed } from '../testing/test-bed.ts';

it('images for accounts of one address leave half of the processes to others', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
  // Without a folder each source is opened here.
  const { folder, ...files } = createFilesystemBlobStore(directory);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const opened: string[] = [];
  const store: BlobStore = {
    ...files,
    async open(key, range) {
      opened.push(key);
      await held;
      return files.open(key, range);
    },
  };
  const bed = await createTestBed({ images: { maxPixels: 1e6, concurrency: 4 } }, store);
  const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const [crowded, calm] = [await bed.upload(picture), await bed.upload(picture)];
  /** Larger than what counts as quick. */
  const ask = ({ body }: typeof crowded, ip: string, width: number) =>
    bed.get(`${body.url}?width=${width}`, {
      identity: anonymous({ ip, project: { ...testProject, ownerId: randomUUID() } }),
    });
  const answers = [600, 601, 602, 603].map((width) => ask(crowded, '192.0.2.1', width));
  await until(() => opened.length === 2);
  answers.push(ask(calm, '192.0.2.2', 600));
  await until(() => opened.length === 3);
  expect(opened.at(-1)).toContain(calm.body.id);
  letGo();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(5).fill(200));
  await bed.close();
  await rm(directory, { recursive: true });
});
