import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asUser, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { createFilesystemBlobStore } from '../blob-store/filesystem.ts';
import { createTestBed, type TestBed, userA } from '../testing/test-bed.ts';

async function* bytes() {
  yield Buffer.from('sent to the store');
}

describe('copies of what was sent to the store', () => {
  let directory: string;
  let bed: TestBed;
  /** Keys that are being copied; each waits until `finish` is called. */
  let copying: string[];
  let finish: () => void;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    const files = createFilesystemBlobStore(directory);
    copying = [];
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const store: BlobStore = {
      ...files,
      direct: {
        presignUpload: async (key) => ({ url: 'http://store.example', fields: { key } }),
        presignRead: async () => 'http://store.example',
        async copy(from, to) {
          copying.push(from);
          await finished;
          await files.put(to, await files.open(from));
        },
      },
    };
    bed = await createTestBed({}, store);
  });
  afterEach(async () => {
    finish();
    await bed.close();
    await rm(directory, { recursive: true });
  });

  const at = (n: number) => asUser(userA, { ip: `192.0.2.${n}` });
  const send = async (n: number): Promise<string> => {
    const body = { name: 'a', size: 100 };
    const { body: form } = await bed.call('POST', '/storage/uploads', { identity: at(n), body });
    await bed.store.put(form.fields.key, bytes());
    return form.id;
  };
  const complete = (id: string, n: number) =>
    bed.call('POST', `/storage/uploads/${id}/complete`, { identity: at(n) });

  it('are four of an address at a time, and keep no other address waiting', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => send(1)));
    const stranger = await send(2);
    const completed = ids.map((id) => complete(id, 1));
    await until(() => copying.length === 4);
    completed.push(complete(stranger, 2));
    await until(() => copying.length === 5);
    expect(copying.at(-1)).toContain(stranger);
    finish();
    const statuses = (await Promise.all(completed)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(copying).toHaveLength(7);
  });
});
