import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Upload } from '@tus/server';
import { s3ConfigFor } from '../testing/s3-store.ts';
import { createS3BlobStore } from './s3.ts';

const MIB = 1024 * 1024;

describe('encryption by S3', () => {
  /** A server that notes which requests ask for it. */
  const listen = async () => {
    const asked: { query: string; encryption: string | string[] | undefined }[] = [];
    const server = createServer((req, res) => {
      const { search: query } = new URL(req.url ?? '', 'http://s3');
      asked.push({ query, encryption: req.headers['x-amz-server-side-encryption'] });
      req.resume().once('end', () => {
        res.setHeader('ETag', '"1"');
        res.end('<Result><UploadId>1</UploadId></Result>');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { asked, endpoint, close: () => server.close() };
  };

  it('is asked for wherever an object begins, and nowhere else', async () => {
    const { asked, endpoint, close } = await listen();
    const store = createS3BlobStore(await s3ConfigFor({ endpoint, encryption: 'AES256' }));
    async function* bytes(length: number) {
      yield randomBytes(length);
    }
    await store.put('1001/small', bytes(10));
    await store.put('1001/large', bytes(6 * MIB));
    await store.direct?.copy('1001/small', '1001/copy');
    const notes = { get: async () => undefined, set: async () => {}, delete: async () => {} };
    await store.resumable(notes).create(new Upload({ id: '1001/tus', size: 10, offset: 0 }));
    const isPart = ({ query }: { query: string }) => /uploadId/.test(query);
    const begun = asked.filter((request) => !isPart(request));
    expect(begun.map(({ encryption }) => encryption)).toEqual(Array(4).fill('AES256'));
    const parts = asked.filter(isPart);
    expect(parts.map(({ encryption }) => encryption)).toEqual(Array(3).fill(undefined));
    await store.close();
    close();
  });
});
