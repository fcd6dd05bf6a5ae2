import { writeFile } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import { BlobStoreUnavailable } from './blob-store.ts';
import { translated } from './disk.ts';
import { ResumableFiles } from './filesystem-resumable.ts';

const notes = { get: async () => undefined, set: async () => {}, delete: async () => {} };

describe('a disk that is full', () => {
  it('makes the store unavailable to a blob', async () => {
    const source = Readable.from([Buffer.from('bytes')]);
    await expect(translated(writeFile('/dev/full', source))).rejects.toThrow(BlobStoreUnavailable);
  });

  it('makes the store unavailable to a part, for whoever pipes it', async () => {
    const store = new ResumableFiles('/dev', notes);
    const chunks = Array.from({ length: 100 }, () => Buffer.alloc(64 * 1024));
    const source = new PassThrough();
    const piped = pipeline(Readable.from(chunks), source, () => store.write(source, 'full', 0));
    await expect(piped).rejects.toThrow(BlobStoreUnavailable);
  });
});
